"""What every environment shares. Imports with nothing set: some commands need no database."""

from typing import Any

from django.utils.translation import gettext_lazy as _

from portal.settings import env
from portal.settings.api import *  # noqa: F403
from portal.settings.celery import *  # noqa: F403
from portal.settings.channels import *  # noqa: F403
from portal.settings.database import CACHES as CACHES
from portal.settings.database import databases
from portal.settings.identity import *  # noqa: F403
from portal.settings.logging import *  # noqa: F403
from portal.settings.security import *  # noqa: F403

BASE_DIR = env.ROOT
DATABASES: dict[str, Any] = databases()
ROOT_URLCONF = "portal.urls"
ASGI_APPLICATION = "portal.asgi.application"
AUTH_USER_MODEL = "pool.User"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
USE_TZ = True
TIME_ZONE = "UTC"
LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English"), ("zh-hans", "简体中文")]
LOCALE_PATHS = [BASE_DIR / "locale"]
SITE_NAME = _("GPU pool")

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.postgres",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.socialaccount",
    "allauth.socialaccount.providers.openid_connect",
    "rest_framework",
    "django_filters",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "channels",
    "django_htmx",
    "csp",
    "pool",
    "billing",
    "portal",
]
MIDDLEWARE = [
    "portal.middleware.RequestId",
    "django.middleware.security.SecurityMiddleware",
    "csp.middleware.CSPMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "portal.middleware.UserLanguage",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "portal.access.second_factor.SecondFactorWanted",
]
TEMPLATES: list[dict[str, Any]] = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "portal.pages.shell.shell",
            ]
        },
    }
]
STATIC_URL = "/static/"
STATIC_ROOT = BASE_DIR / "staticfiles"
STATICFILES_DIRS = [BASE_DIR / "static"]
STORAGES: dict[str, Any] = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}

# Periods and limits of the pool, in seconds unless the name says otherwise.
FENCE_SECONDS = env.number("GPUPOOL_FENCE_SECONDS", 300)
FENCE_MARGIN_SECONDS = env.number("GPUPOOL_FENCE_MARGIN_SECONDS", 30)
NODE_SILENT_SECONDS = env.number("GPUPOOL_NODE_SILENT_SECONDS", 30)
PUBLIC_URL = env.text("PUBLIC_URL")
ANNOUNCEMENT = env.text("GPUPOOL_ANNOUNCEMENT")
GATEWAY_ORIGIN = env.text("GATEWAY_ORIGIN")
# Where agents dial this very gateway process; each of several has an address of its own.
GATEWAY_SELF = env.text("GATEWAY_SELF") or GATEWAY_ORIGIN.replace("http", "ws", 1)
# Hosts with private addresses to which notices may be sent all the same.
HOOK_HOSTS = env.names("GPUPOOL_HOOK_HOSTS")
HEALTH_TOKEN = env.text("HEALTH_TOKEN")
# How large a part of the nodes may be silent (0 to 1) before /healthz calls the agents unwell.
HEALTH_SILENT_SHARE = 0.5
