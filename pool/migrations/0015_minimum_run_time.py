"""A template's minimum run time, within which its work is not chosen to give way."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("pool", "0014_work_that_became_impossible"),
    ]

    operations = [
        migrations.AddField(
            model_name="templateversion",
            name="min_run_seconds",
            field=models.PositiveIntegerField(default=0),
        ),
    ]
