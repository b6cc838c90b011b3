"""Addresses of what-ifs and of recorded work."""

from django.urls import path

from portal.pages.whatif import acts, asking, detail, index, records

urlpatterns = [
    path("what-ifs/", index.index, name="what-ifs"),
    path("what-ifs/new/", asking.new, name="what-if-new"),
    path("what-ifs/cards/", asking.cards_needed, name="what-if-cards"),
    path("what-ifs/<str:uid>/", detail.detail, name="what-if"),
    path("what-ifs/<str:uid>/file.csv", detail.file, name="what-if-file"),
    path("what-ifs/<str:uid>/change/", acts.change, name="what-if-change"),
    path("what-ifs/<str:uid>/<str:verb>/", acts.act, name="what-if-act"),
    path("records/", records.index, name="records"),
    path("records/<str:uid>/delete/", records.delete, name="record-delete"),
]
