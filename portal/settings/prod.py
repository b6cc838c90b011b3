"""A site's own installation: refuses to start without secret, hosts and https origins."""

from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured

from portal.settings import env
from portal.settings.base import *  # noqa: F403

EXPLAINED = "see deploy/gpupool.env.example"


def _refuse_unless(fine: object, why: str) -> None:
    if not fine:
        raise ImproperlyConfigured(f"{why}; {EXPLAINED}")


DEBUG = False
SECRET_KEY = env.required("SECRET_KEY")
_refuse_unless(
    len(SECRET_KEY) >= 50 and len(set(SECRET_KEY)) >= 5, "SECRET_KEY is shorter than 50 characters"
)
SECRET_KEYS = env.names("SECRET_KEYS")
_refuse_unless(all(len(one) >= 32 for one in SECRET_KEYS), "a key of SECRET_KEYS is too short")
ALLOWED_HOSTS = env.names("ALLOWED_HOSTS")
_refuse_unless(ALLOWED_HOSTS, "ALLOWED_HOSTS is not set")
_refuse_unless("*" not in ALLOWED_HOSTS, "ALLOWED_HOSTS must name hosts, not *")
CSRF_TRUSTED_ORIGINS = env.names("CSRF_TRUSTED_ORIGINS")
_refuse_unless(
    CSRF_TRUSTED_ORIGINS and all(one.startswith("https://") for one in CSRF_TRUSTED_ORIGINS),
    "CSRF_TRUSTED_ORIGINS must list https:// origins",
)
env.required("DATABASE_URL")
env.required("REDIS_URL")
_gateway = urlsplit(env.text("GATEWAY_ORIGIN"))
_refuse_unless(
    not _gateway.netloc
    or (_gateway.scheme == "https" and _gateway.hostname not in {*ALLOWED_HOSTS, None}),
    "GATEWAY_ORIGIN must be an https:// origin with a host name of its own",
)
_refuse_unless(
    not _gateway.netloc or env.text("PUBLIC_URL").startswith("https://"),
    "GATEWAY_ORIGIN needs PUBLIC_URL (https://): browsers enter notebooks by way of the portal",
)

SECURE_SSL_REDIRECT = env.flag("SECURE_SSL_REDIRECT", default=True)
# A load balancer asks this address over plain http from inside.
SECURE_REDIRECT_EXEMPT = [r"^healthz$"]
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
SECURE_HSTS_SECONDS = env.number("SECURE_HSTS_SECONDS", 31536000)
SECURE_HSTS_INCLUDE_SUBDOMAINS = True
SECURE_HSTS_PRELOAD = True
SESSION_COOKIE_SECURE = True
CSRF_COOKIE_SECURE = True
MFA_REQUIRED_ROLES = env.names("MFA_REQUIRED_ROLES") or ["platform_admin"]
EMAIL_HOST = env.text("EMAIL_HOST", "localhost")
EMAIL_PORT = env.number("EMAIL_PORT", 25)
EMAIL_HOST_USER = env.text("EMAIL_HOST_USER")
EMAIL_HOST_PASSWORD = env.text("EMAIL_HOST_PASSWORD")
EMAIL_USE_TLS = env.flag("EMAIL_USE_TLS")
DEFAULT_FROM_EMAIL = env.text("DEFAULT_FROM_EMAIL", "gpupool@localhost")
