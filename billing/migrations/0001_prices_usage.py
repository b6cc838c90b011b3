"""Prices, usage rows, cursors of readers."""

import billing.rating.tariffs
import django.contrib.postgres.constraints
import django.contrib.postgres.fields.ranges
import django.db.models.deletion
import pool.models.ids
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("pool", "0003_room_being_made"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Cursor",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=40, unique=True)),
                ("epoch", models.IntegerField(default=0)),
                ("xact", models.BigIntegerField(default=0)),
                ("event", models.BigIntegerField(default=0)),
            ],
        ),
        migrations.CreateModel(
            name="Price",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "uid",
                    pool.models.ids.UidField(
                        editable=False, max_length=48, prefix="pc", unique=True
                    ),
                ),
                ("currency", models.CharField(max_length=3)),
                ("unit", models.CharField(default="card", max_length=8)),
                ("card_model", models.CharField(blank=True, default="", max_length=80)),
                ("mode", models.CharField(blank=True, default="", max_length=16)),
                ("price_class", models.CharField(blank=True, default="", max_length=32)),
                ("rate_micro", models.BigIntegerField()),
                ("valid", django.contrib.postgres.fields.ranges.DateTimeRangeField()),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "partition",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="prices",
                        to="pool.partition",
                    ),
                ),
            ],
            options={
                "ordering": [
                    "partition",
                    "currency",
                    "unit",
                    "card_model",
                    "mode",
                    "price_class",
                    "valid",
                ],
                "constraints": [
                    django.contrib.postgres.constraints.ExclusionConstraint(
                        expressions=[
                            ("partition", "="),
                            ("currency", "="),
                            ("unit", "="),
                            ("card_model", "="),
                            ("mode", "="),
                            ("price_class", "="),
                            ("valid", "&&"),
                        ],
                        name="price_one_at_a_time",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "unit__in",
                                [
                                    billing.rating.tariffs.Unit["CARD"],
                                    billing.rating.tariffs.Unit["CORE"],
                                    billing.rating.tariffs.Unit["GIB"],
                                ],
                            )
                        ),
                        name="price_unit_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("rate_micro__gte", 0)), name="price_not_negative"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("valid__isempty", False), ("valid__lower_inf", False)),
                        name="price_span_not_empty",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("unit", "card"),
                            models.Q(("card_model", ""), ("mode", "")),
                            _connector="OR",
                        ),
                        name="price_of_host_names_no_card",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Usage",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "uid",
                    pool.models.ids.UidField(
                        editable=False, max_length=48, prefix="ug", unique=True
                    ),
                ),
                ("hour", models.DateTimeField()),
                ("starts_at", models.DateTimeField()),
                ("ends_at", models.DateTimeField()),
                ("reserved_us", models.BigIntegerField()),
                ("running", models.BooleanField(default=False)),
                ("corrected", models.BooleanField(default=False)),
                ("billable", models.BooleanField(default=True)),
                ("borrowed", models.BooleanField(default=False)),
                ("cost_centre", models.CharField(blank=True, max_length=63)),
                ("card_model", models.CharField(blank=True, max_length=80)),
                ("mode", models.CharField(max_length=16)),
                ("price_class", models.CharField(max_length=32)),
                ("equivalents_micro", models.PositiveIntegerField()),
                ("memory_mib", models.PositiveIntegerField()),
                ("compute_milli", models.PositiveIntegerField()),
                ("cpu_milli", models.PositiveIntegerField()),
                ("ram_mib", models.PositiveIntegerField()),
                ("disk_mib", models.PositiveIntegerField()),
                ("currency", models.CharField(max_length=3)),
                ("charges", models.JSONField(default=list)),
                ("amount_micro", models.BigIntegerField(null=True)),
                ("revision", models.PositiveIntegerField(default=1)),
                ("metered_at", models.DateTimeField()),
                (
                    "attempt",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="pool.attempt",
                    ),
                ),
                (
                    "card",
                    models.ForeignKey(
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="pool.card",
                    ),
                ),
                (
                    "hold",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="usage",
                        to="pool.hold",
                    ),
                ),
                (
                    "organization",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="pool.organization",
                    ),
                ),
                (
                    "owner",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "partition",
                    models.ForeignKey(
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="pool.partition",
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="pool.project",
                    ),
                ),
                (
                    "workload",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="pool.workload",
                    ),
                ),
            ],
            options={
                "ordering": ["-hour", "-pk"],
                "indexes": [
                    models.Index(fields=["project", "hour"], name="usage_by_project"),
                    models.Index(fields=["organization", "hour"], name="usage_by_organization"),
                    models.Index(fields=["workload"], name="usage_by_workload"),
                    models.Index(fields=["card", "hour"], name="usage_by_card"),
                    models.Index(
                        condition=models.Q(("running", True)), fields=["hold"], name="usage_running"
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("hold", "hour"), name="usage_once_a_hold_and_hour"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("reserved_us__gte", 0), ("reserved_us__lte", 3600000000)
                        ),
                        name="usage_within_its_hour",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("ends_at__gte", models.F("starts_at"))),
                        name="usage_ends_after_its_start",
                    ),
                ],
            },
        ),
    ]
