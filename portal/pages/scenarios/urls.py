"""Addresses of single templates."""

from django.urls import path

from portal.pages.scenarios import editor

urlpatterns = [
    path("templates/new/", editor.new, name="template-new"),
    path("templates/fit/", editor.fit, name="template-fit"),
    path("templates/<str:uid>/", editor.detail, name="template"),
    path("templates/<str:uid>/edit/", editor.edit, name="template-edit"),
    path(
        "templates/<str:uid>/activate/",
        editor.switch,
        {"verb": "activate"},
        name="template-activate",
    ),
    path(
        "templates/<str:uid>/deactivate/",
        editor.switch,
        {"verb": "deactivate"},
        name="template-deactivate",
    ),
]
