"""Settings of the tests; the engines are real, started by tests/conftest.py."""

from portal.settings.base import *  # noqa: F403

DEBUG = False
SECRET_KEY = "only-for-tests-" + "0" * 50
SECRET_KEYS = ["only-for-tests-" + "1" * 50]
ALLOWED_HOSTS = ["*"]
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
