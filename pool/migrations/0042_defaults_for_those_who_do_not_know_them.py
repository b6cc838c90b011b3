"""Databases that took 0040 before it kept its defaults get them, for processes that still run."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("pool", "0041_what_ifs"),
    ]

    operations = [
        migrations.RunSQL(
            "ALTER TABLE pool_request"
            " ALTER COLUMN given SET DEFAULT '{}'::jsonb,"
            " ALTER COLUMN image SET DEFAULT ''",
            migrations.RunSQL.noop,
        ),
    ]
