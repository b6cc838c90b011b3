"""Databases that took 0003 before it kept its default get it, for processes that still run."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("portal", "0003_passes_that_read"),
    ]

    operations = [
        migrations.RunSQL(
            "ALTER TABLE portal_gatewaypass ALTER COLUMN reads SET DEFAULT false",
            migrations.RunSQL.noop,
        ),
    ]
