"""Addresses of the catalogues."""

from django.urls import path

from portal.pages.catalogue import environments, secrets, storage

urlpatterns = [
    path("storage/", storage.index, name="storage"),
    path("storage/<str:uid>/change/", storage.change, name="storage-change"),
    path("storage/<str:uid>/remove/", storage.remove, name="storage-remove"),
    path("secrets/", secrets.index, name="secrets"),
    path("secrets/<str:uid>/rotate/", secrets.rotate, name="secret-rotate"),
    path("secrets/<str:uid>/remove/", secrets.remove, name="secret-remove"),
    path("environments/", environments.index, name="environments"),
    path("environments/registries/", environments.registry, name="registry-allow"),
    path(
        "environments/registries/<str:uid>/remove/",
        environments.registry_gone,
        name="registry-remove",
    ),
    path("environments/<str:uid>/deprecate/", environments.deprecate, name="environment-deprecate"),
    path("environments/<str:uid>/remove/", environments.remove, name="environment-remove"),
]
