"""What `manage.py up` runs on one machine: production switches, plain http on loopback only."""

from portal.settings import env
from portal.settings.base import *  # noqa: F403

DEBUG = False
SECRET_KEY = env.text("SECRET_KEY") or str(env.connection().get("secret_key", "")) or "unset" * 12
ALLOWED_HOSTS = env.names("ALLOWED_HOSTS") or ["127.0.0.1", "localhost", "[::1]"]
