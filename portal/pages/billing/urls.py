"""Addresses of pages about money."""

from django.urls import path

from portal.pages.billing import budgets, contracts, prices, statements, team

urlpatterns = [
    path("billing/", team.index, name="billing"),
    path("statements/", statements.index, name="statements"),
    path("statements/open/", statements.open_month, name="statement-open"),
    path("statements/<str:uid>/", statements.detail, name="statement"),
    *(
        path(f"statements/<str:uid>/{kind}/", statements.file, {"kind": kind}, f"statement-{kind}")
        for kind in statements.FILES
    ),
    path("statements/<str:uid>/line/", statements.line, name="statement-line"),
    path("statements/<str:uid>/dispute/", statements.dispute, name="statement-dispute"),
    path("statements/<str:uid>/<str:verb>/", statements.act, name="statement-act"),
    path("disputes/<str:uid>/decide/", statements.decide, name="dispute-decide"),
    path("budgets/", budgets.index, name="budgets"),
    path("budgets/<str:uid>/overdraft/", budgets.overdraw, name="budget-overdraft"),
    path("budgets/<str:uid>/remove/", budgets.remove, name="budget-remove"),
    path("prices/", prices.index, name="prices"),
    path("prices/agreed/", contracts.index, name="contracts"),
    path("prices/agreed/<str:uid>/end/", contracts.end_discount, name="discount-end"),
]
