"""Celery: broker, queues, beat."""

from typing import Any

from celery.schedules import crontab

from portal.settings import env

CELERY_BROKER_URL = env.redis().for_celery
CELERY_RESULT_BACKEND = None
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None
CELERY_BROKER_TRANSPORT_OPTIONS: dict[str, Any] = {
    "visibility_timeout": 3600,
    "socket_timeout": 10,
    "socket_connect_timeout": 2,
    "global_keyprefix": env.text("GPUPOOL_CELERY_PREFIX", "gpupool:"),
}
CELERY_TASK_DEFAULT_QUEUE = "default"
CELERY_TASK_ROUTES: dict[str, Any] = {
    "pool.placement_round": {"queue": "rounds"},
    "pool.studies": {"queue": "studies"},
    "billing.meter": {"queue": "metering"},
    "billing.ledger": {"queue": "metering"},
    "billing.budgets": {"queue": "metering"},
}
CELERY_TIMEZONE = "UTC"
CELERY_BEAT_SCHEDULE: dict[str, Any] = {
    "placement-round": {
        "task": "pool.placement_round",
        "schedule": 2.0,
        "kwargs": {"anyway": True},
        "options": {"expires": 10},
    },
    "watch": {"task": "pool.watch", "schedule": 1.0, "options": {"expires": 5}},
    "expire": {"task": "pool.expire", "schedule": 10.0, "options": {"expires": 30}},
    "recurring": {"task": "pool.recurring", "schedule": 5.0, "options": {"expires": 20}},
    "quota-plans": {"task": "pool.quota_plans", "schedule": 5.0, "options": {"expires": 20}},
    "quota-books": {"task": "pool.quota_books", "schedule": 60.0, "options": {"expires": 120}},
    "idle": {"task": "pool.idle", "schedule": 5.0, "options": {"expires": 10}},
    "impossible": {"task": "pool.impossible", "schedule": 30.0, "options": {"expires": 60}},
    "directory": {
        "task": "portal.directory_sync",
        "schedule": crontab(hour=2, minute=30),
        "options": {"expires": 3600},
    },
    "tidy": {
        "task": "portal.tidy",
        "schedule": crontab(hour=3, minute=10),
        "options": {"expires": 3600},
    },
    "departures": {"task": "pool.departures", "schedule": 10.0, "options": {"expires": 30}},
    "meter": {"task": "billing.meter", "schedule": 5.0, "options": {"expires": 20}},
    "ledger": {"task": "billing.ledger", "schedule": 60.0, "options": {"expires": 120}},
    "budgets": {"task": "billing.budgets", "schedule": 60.0, "options": {"expires": 120}},
    "notices": {"task": "portal.send_notices", "schedule": 30.0, "options": {"expires": 60}},
    "alerts": {"task": "pool.alerts", "schedule": 5.0, "options": {"expires": 15}},
    "alert-words": {"task": "portal.send_alerts", "schedule": 15.0, "options": {"expires": 30}},
    "rollups": {"task": "pool.rollups", "schedule": 20.0, "options": {"expires": 60}},
    "studies": {"task": "pool.studies", "schedule": 15.0, "options": {"expires": 10}},
    "housekeep": {"task": "pool.housekeep", "schedule": 3600.0, "options": {"expires": 600}},
    "audit": {"task": "pool.audit", "schedule": 300.0, "options": {"expires": 120}},
}
