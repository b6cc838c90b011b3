"""A site's own installation: refuses to start without secret, hosts and https origins."""

from django.core.exceptions import ImproperlyConfigured

from portal.settings import env
from portal.settings.base import *  # noqa: F403

DEBUG = False
SECRET_KEY = env.required("SECRET_KEY")
ALLOWED_HOSTS = env.names("ALLOWED_HOSTS")
CSRF_TRUSTED_ORIGINS = env.names("CSRF_TRUSTED_ORIGINS")
env.required("DATABASE_URL")
env.required("REDIS_URL")
if not ALLOWED_HOSTS:
    raise ImproperlyConfigured("ALLOWED_HOSTS is not set; see deploy/gpupool.env.example")
if not CSRF_TRUSTED_ORIGINS or any(not o.startswith("https://") for o in CSRF_TRUSTED_ORIGINS):
    raise ImproperlyConfigured("CSRF_TRUSTED_ORIGINS must list https:// origins")
SECURE_SSL_REDIRECT = env.flag("SECURE_SSL_REDIRECT", default=True)
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
SECURE_HSTS_SECONDS = env.number("SECURE_HSTS_SECONDS", 31536000)
SECURE_HSTS_INCLUDE_SUBDOMAINS = True
SECURE_HSTS_PRELOAD = True
SESSION_COOKIE_SECURE = True
CSRF_COOKIE_SECURE = True
