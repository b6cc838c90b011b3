"""The Celery application and its beat table."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings.local")

app = Celery("portal")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()

import portal.pulse  # noqa: E402, F401 - its handlers hang on Celery's signals
