"""Addresses of pages about notebooks."""

from django.urls import path

from portal.pages.notebooks import detail, listing

urlpatterns = [
    path("notebooks/", listing.index, name="notebooks"),
    path("notebooks/new/", listing.new, name="notebook-new"),
    path("notebooks/warnings/", detail.warnings, name="notebook-warnings"),
    path("notebooks/<str:uid>/", detail.detail, name="notebook"),
    path("notebooks/<str:uid>/enter/", detail.enter, name="notebook-enter"),
    path("notebooks/<str:uid>/vouch/", detail.vouch, name="notebook-vouch"),
    path("notebooks/<str:uid>/<str:verb>/", detail.act, name="notebook-act"),
]
