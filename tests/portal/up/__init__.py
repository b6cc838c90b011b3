"""Tests of `manage.py up` and what it stands on."""
