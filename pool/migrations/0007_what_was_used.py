"""How much each tenant has used lately, for a fair order between them."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("pool", "0006_watched_by_any_machine"),
    ]

    operations = [
        migrations.CreateModel(
            name="FairUse",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("card_seconds", models.FloatField()),
                (
                    "organization",
                    models.OneToOneField(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="fair_use",
                        to="pool.organization",
                    ),
                ),
                (
                    "project",
                    models.OneToOneField(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="fair_use",
                        to="pool.project",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("card_seconds__gte", 0)), name="fair_use_not_negative"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("organization", None), ("project__isnull", False)),
                            models.Q(("organization__isnull", False), ("project", None)),
                            _connector="OR",
                        ),
                        name="fair_use_of_one_tenant",
                    ),
                ],
            },
        ),
    ]
