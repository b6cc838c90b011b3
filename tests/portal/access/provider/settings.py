"""What the provider's site is: told by its environment, with a database of its own."""

import os
from urllib.parse import parse_qs, unquote, urlsplit

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

_parts = urlsplit(os.environ["PROVIDER_DATABASE"])
_query = parse_qs(_parts.query)

SECRET_KEY = "provider" * 8
ALLOWED_HOSTS = ["127.0.0.1"]
ROOT_URLCONF = "tests.portal.access.provider.urls"
INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "allauth",
    "allauth.account",
    "allauth.idp.oidc",
]
MIDDLEWARE = [
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "allauth.account.middleware.AccountMiddleware",
]
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]
AUTHENTICATION_BACKENDS = ["allauth.account.auth_backends.AuthenticationBackend"]
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
ACCOUNT_EMAIL_VERIFICATION = "none"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
USE_TZ = True
DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": unquote(_parts.path.lstrip("/")),
        "USER": unquote(_parts.username or ""),
        "PASSWORD": unquote(_parts.password or ""),
        "HOST": _query.get("host", [_parts.hostname or ""])[0],
        "PORT": str(_parts.port or ""),
    }
}
IDP_OIDC_PRIVATE_KEY = (
    rsa.generate_private_key(public_exponent=65537, key_size=2048)
    .private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    .decode()
)
IDP_OIDC_ADAPTER = "tests.portal.access.provider.adapter.Adapter"
