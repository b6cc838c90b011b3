"""Logs: one line an event, with the request's id; secrets never."""

from typing import Any

from portal.settings import env

LOGGING: dict[str, Any] = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "line": {"format": "%(asctime)s %(levelname)s %(name)s: %(message)s"},
    },
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["console"], "level": env.text("GPUPOOL_LOG_LEVEL", "INFO")},
    "loggers": {
        "django.server": {"level": "WARNING"},
        "httpx": {"level": "WARNING"},
        "celery.beat": {"level": "WARNING"},
    },
}
