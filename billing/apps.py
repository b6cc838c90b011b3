"""Billing as a Django application."""

from django.apps import AppConfig


class BillingConfig(AppConfig):
    """Money."""

    name = "billing"
    default_auto_field = "django.db.models.BigAutoField"
