"""Logs: one line an event, with the request's id; secrets never."""

import logging
from typing import Any

from portal.settings import env


class NotHealth(logging.Filter):
    """Drops Django's line on each 503 of /healthz: whoever asks that address hears it anyway."""

    def filter(self, record: logging.LogRecord) -> bool:
        return "/healthz" not in record.getMessage()


LOGGING: dict[str, Any] = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "line": {"format": "%(asctime)s %(levelname)s %(name)s: %(message)s"},
    },
    "filters": {"not_health": {"()": NotHealth}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["console"], "level": env.text("GPUPOOL_LOG_LEVEL", "INFO")},
    "loggers": {
        "django.server": {"level": "WARNING"},
        "django.request": {"filters": ["not_health"]},
        "httpx": {"level": "WARNING"},
        "celery.beat": {"level": "WARNING"},
    },
}
