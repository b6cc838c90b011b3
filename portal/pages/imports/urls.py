"""Addresses of the configuration's files."""

from django.urls import path

from portal.pages.imports import files

urlpatterns = [
    path("configuration/", files.index, name="imports"),
    path("configuration/file/", files.download, name="configuration-file"),
]
