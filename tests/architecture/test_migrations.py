"""The models and the migrations say the same."""

import io

import pytest
from django.core.management import call_command


@pytest.mark.django_db
def test_no_model_waits_for_a_migration():
    said = io.StringIO()
    call_command("makemigrations", check=True, dry_run=True, stdout=said)
    assert "No changes detected" in said.getvalue()
