"""What `manage.py up` runs on one machine: production switches, plain http on loopback only."""

from portal.settings import env
from portal.settings.base import *  # noqa: F403

DEBUG = False
CLOCK_MOVABLE = env.flag("GPUPOOL_CLOCK_MOVABLE")
SECRET_KEY = env.text("SECRET_KEY") or str(env.connection().get("secret_key", "")) or "unset" * 12
SECRET_KEYS = env.names("SECRET_KEYS") or [str(env.connection().get("sealing_key", ""))]
ALLOWED_HOSTS = env.names("ALLOWED_HOSTS") or ["127.0.0.1", "localhost", "[::1]"]
HEALTH_TOKEN = env.text("HEALTH_TOKEN") or str(env.connection().get("health_token", ""))
HEALTH_SILENT_SHARE = 0.0
STATIC_ROOT = env.data_dir() / "static"
EMAIL_BACKEND = "django.core.mail.backends.filebased.EmailBackend"
EMAIL_FILE_PATH = env.data_dir() / "mail"
