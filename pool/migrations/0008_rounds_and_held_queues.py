"""What rounds did, when work started, and projects whose queue is held back."""

import django.contrib.postgres.fields
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("pool", "0007_what_was_used"),
    ]

    operations = [
        migrations.CreateModel(
            name="Round",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("at", models.DateTimeField()),
                ("taken_us", models.PositiveIntegerField()),
                ("planned_us", models.PositiveIntegerField()),
                ("committed_us", models.PositiveIntegerField()),
                ("cards", models.PositiveIntegerField()),
                ("waiting", models.PositiveIntegerField()),
                ("placed", models.PositiveIntegerField(default=0)),
                ("carving", models.PositiveIntegerField(default=0)),
                ("preempted", models.PositiveIntegerField(default=0)),
                ("stale", models.PositiveIntegerField(default=0)),
            ],
            options={
                "ordering": ["-pk"],
            },
        ),
        migrations.CreateModel(
            name="RoundTotal",
            fields=[
                ("id", models.SmallIntegerField(default=1, primary_key=True, serialize=False)),
                ("rounds", models.BigIntegerField(default=0)),
                ("placed", models.BigIntegerField(default=0)),
                ("carving", models.BigIntegerField(default=0)),
                ("preempted", models.BigIntegerField(default=0)),
                ("stale", models.BigIntegerField(default=0)),
                ("taken_us", models.BigIntegerField(default=0)),
                ("planned_us", models.BigIntegerField(default=0)),
                ("committed_us", models.BigIntegerField(default=0)),
                (
                    "buckets",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.BigIntegerField(), default=list, size=None
                    ),
                ),
            ],
        ),
        migrations.AddField(
            model_name="installation",
            name="wait_target_s",
            field=models.PositiveIntegerField(default=1800),
        ),
        migrations.AddField(
            model_name="project",
            name="queue_held",
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name="project",
            name="queue_held_reason",
            field=models.CharField(blank=True, max_length=200),
        ),
        migrations.AddIndex(
            model_name="workload",
            index=models.Index(
                condition=models.Q(("started_at__isnull", False)),
                fields=["started_at"],
                name="workload_by_start",
            ),
        ),
        migrations.AddIndex(
            model_name="round",
            index=models.Index(fields=["at"], name="round_by_time"),
        ),
        migrations.AddConstraint(
            model_name="roundtotal",
            constraint=models.CheckConstraint(
                condition=models.Q(("id", 1)), name="round_total_one_row"
            ),
        ),
    ]
