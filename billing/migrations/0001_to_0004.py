"""All tables as 0001 to 0004 leave them, for new installations."""

from importlib import import_module

import billing.rating.budgets
import billing.rating.months
import billing.rating.tariffs
import billing.rating.terms
import django.contrib.postgres.constraints
import django.contrib.postgres.fields.ranges
import django.db.models.deletion
import pool.models.ids
from django.conf import settings
from django.db import migrations, models

_LEDGER = import_module("billing.migrations.0004_ledger_append_only")


class Migration(migrations.Migration):
    initial = True

    replaces = [
        ("billing", "0001_prices_usage"),
        ("billing", "0002_usage_of_kept_cards"),
        ("billing", "0003_ledger_budgets_months"),
        ("billing", "0004_ledger_append_only"),
    ]

    dependencies = [
        ("pool", "0001_to_0038"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Entry",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                (
                    "uid",
                    pool.models.ids.UidField(
                        editable=False, max_length=48, prefix="le", unique=True
                    ),
                ),
                ("kind", models.CharField(max_length=12)),
                ("scope", models.CharField(max_length=48)),
                ("hour", models.DateTimeField()),
                ("currency", models.CharField(max_length=3)),
                ("reason", models.CharField(default="", max_length=200)),
                ("actor_label", models.CharField(default="", max_length=160)),
                ("posted_at", models.DateTimeField()),
            ],
            options={
                "db_table": "billing_entry",
                "ordering": ["id"],
                "managed": False,
            },
        ),
        migrations.CreateModel(
            name="Posting",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("account", models.CharField(max_length=16)),
                ("usage_id", models.BigIntegerField(null=True)),
                ("organization_id", models.BigIntegerField(null=True)),
                ("project_id", models.BigIntegerField(null=True)),
                ("day", models.DateField()),
                ("month", models.DateField()),
                ("amount_micro", models.BigIntegerField()),
                ("card_us", models.BigIntegerField(default=0)),
            ],
            options={
                "db_table": "billing_posting",
                "ordering": ["id"],
                "managed": False,
            },
        ),
        migrations.CreateModel(
            name="Budget",
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
                        editable=False, max_length=48, prefix="bg", unique=True
                    ),
                ),
                ("measure", models.CharField(default="money", max_length=12)),
                ("every", models.CharField(default="month", max_length=8)),
                ("starts_on", models.DateField(blank=True, null=True)),
                ("ends_on", models.DateField(blank=True, null=True)),
                ("limit_micro", models.BigIntegerField()),
                ("action", models.CharField(default="notify", max_length=16)),
                ("spare_endpoints", models.BooleanField(default=True)),
                ("overdraft_micro", models.BigIntegerField(default=0)),
                ("overdraft_until", models.DateField(blank=True, null=True)),
                ("overdraft_reason", models.CharField(blank=True, max_length=200)),
                ("overdraft_by", models.CharField(blank=True, max_length=160)),
                ("told_level", models.PositiveSmallIntegerField(default=0)),
                ("told_for", models.DateField(blank=True, null=True)),
                ("acting_since", models.DateTimeField(blank=True, null=True)),
                ("removed_at", models.DateTimeField(blank=True, null=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "organization",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="budgets",
                        to="pool.organization",
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="budgets",
                        to="pool.project",
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["organization", "project", "user", "pk"],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("removed_at", None)),
                        fields=("organization", "project", "user", "measure", "every", "starts_on"),
                        name="budget_once",
                        nulls_distinct=False,
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "action__in",
                                [
                                    billing.rating.budgets.Action["APPROVAL"],
                                    billing.rating.budgets.Action["BLOCK"],
                                    billing.rating.budgets.Action["NOTIFY"],
                                    billing.rating.budgets.Action["STOP"],
                                ],
                            ),
                            (
                                "every__in",
                                [
                                    billing.rating.budgets.Every["CUSTOM"],
                                    billing.rating.budgets.Every["MONTH"],
                                    billing.rating.budgets.Every["QUARTER"],
                                ],
                            ),
                            (
                                "measure__in",
                                [
                                    billing.rating.budgets.Measure["CARD_HOURS"],
                                    billing.rating.budgets.Measure["MONEY"],
                                ],
                            ),
                        ),
                        name="budget_words_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("limit_micro__gte", 0), ("overdraft_micro__gte", 0)),
                        name="budget_numbers_sane",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("ends_on__gte", models.F("starts_on")),
                                ("every", "custom"),
                                ("starts_on__isnull", False),
                            ),
                            models.Q(
                                models.Q(("every", "custom"), _negated=True),
                                ("ends_on", None),
                                ("starts_on", None),
                            ),
                            _connector="OR",
                        ),
                        name="budget_custom_has_days",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Contract",
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
                        editable=False, max_length=48, prefix="ct", unique=True
                    ),
                ),
                ("since", models.DateField()),
                ("basis", models.CharField(default="reserved", max_length=10)),
                ("floor_milli", models.PositiveIntegerField(default=0)),
                ("tax_milli", models.PositiveIntegerField(default=0)),
                ("minimum_micro", models.BigIntegerField(default=0)),
                ("stranded_by", models.CharField(default="holders", max_length=10)),
                ("idle_by", models.CharField(default="platform", max_length=10)),
                ("down_by", models.CharField(default="platform", max_length=10)),
                ("showback", models.BooleanField(default=False)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "organization",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="contracts",
                        to="pool.organization",
                    ),
                ),
            ],
            options={
                "ordering": ["-since", "-pk"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("organization", "since"),
                        name="contract_one_a_month",
                        nulls_distinct=False,
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "basis__in",
                                [
                                    billing.rating.terms.Basis["MAX"],
                                    billing.rating.terms.Basis["RESERVED"],
                                    billing.rating.terms.Basis["USED"],
                                ],
                            )
                        ),
                        name="contract_basis_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("down_by__in", ["platform", "shared"]),
                            ("idle_by__in", ["platform", "shared"]),
                            ("stranded_by__in", ["holders", "platform"]),
                        ),
                        name="contract_payers_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("floor_milli__lte", 1000),
                            ("minimum_micro__gte", 0),
                            ("tax_milli__lte", 1000),
                        ),
                        name="contract_numbers_sane",
                    ),
                ],
            },
        ),
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
            name="Discount",
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
                        editable=False, max_length=48, prefix="ds", unique=True
                    ),
                ),
                ("kind", models.CharField(max_length=12)),
                ("milli", models.PositiveIntegerField()),
                ("valid", django.contrib.postgres.fields.ranges.DateTimeRangeField()),
                ("from_hour", models.PositiveSmallIntegerField(default=0)),
                ("to_hour", models.PositiveSmallIntegerField(default=0)),
                ("days", models.JSONField(default=list)),
                ("note", models.CharField(blank=True, max_length=200)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "organization",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="pool.organization",
                    ),
                ),
                (
                    "partition",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="pool.partition",
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="pool.project",
                    ),
                ),
            ],
            options={
                "ordering": ["-pk"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "kind__in",
                                [
                                    billing.rating.terms.Cut["AGREEMENT"],
                                    billing.rating.terms.Cut["OFF_PEAK"],
                                    billing.rating.terms.Cut["PREEMPTIBLE"],
                                ],
                            )
                        ),
                        name="discount_kind_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("from_hour__lte", 23),
                            ("milli__gte", 1),
                            ("milli__lte", 1000),
                            ("to_hour__lte", 23),
                        ),
                        name="discount_numbers_sane",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("valid__isempty", False), ("valid__lower_inf", False)),
                        name="discount_span_not_empty",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Month",
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
                        editable=False, max_length=48, prefix="iv", unique=True
                    ),
                ),
                ("first", models.DateField()),
                ("zone", models.CharField(max_length=64)),
                ("currency", models.CharField(max_length=3)),
                ("state", models.CharField(default="provisional", max_length=12)),
                ("state_since", models.DateTimeField(auto_now_add=True)),
                ("reviewed_by", models.CharField(blank=True, max_length=160)),
                ("closed_by", models.CharField(blank=True, max_length=160)),
                ("closed_at", models.DateTimeField(blank=True, null=True)),
                ("total_micro", models.BigIntegerField(blank=True, null=True)),
                ("digest", models.CharField(blank=True, max_length=64)),
                (
                    "organization",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="months",
                        to="pool.organization",
                    ),
                ),
            ],
            options={
                "ordering": ["-first", "organization"],
                "constraints": [
                    models.UniqueConstraint(fields=("organization", "first"), name="month_once"),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "state__in",
                                [
                                    billing.rating.months.MonthState["CLOSED"],
                                    billing.rating.months.MonthState["PROVISIONAL"],
                                    billing.rating.months.MonthState["REVIEWED"],
                                ],
                            )
                        ),
                        name="month_state_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("state", "closed"), _negated=True),
                            models.Q(
                                ("closed_at__isnull", False),
                                ("total_micro__isnull", False),
                                models.Q(("digest", ""), _negated=True),
                            ),
                            _connector="OR",
                        ),
                        name="month_closed_is_told",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Overhead",
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
                        editable=False, max_length=48, prefix="oh", unique=True
                    ),
                ),
                ("first", models.DateField()),
                ("kind", models.CharField(max_length=12)),
                ("label", models.CharField(max_length=120)),
                ("currency", models.CharField(max_length=3)),
                ("amount_micro", models.BigIntegerField()),
                ("shared", models.BooleanField(default=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "organization",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="pool.organization",
                    ),
                ),
            ],
            options={
                "ordering": ["-first", "kind", "pk"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "kind__in",
                                ["adaptation", "licences", "operations", "other", "people"],
                            )
                        ),
                        name="overhead_kind_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("amount_micro__gte", 0)), name="overhead_not_negative"
                    ),
                ],
            },
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
                                    billing.rating.tariffs.Unit["SEAT"],
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
                ("kind", models.CharField(default="held", max_length=10)),
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
                ("preemptible", models.BooleanField(default=False)),
                ("used_us", models.BigIntegerField(default=0)),
                ("known_us", models.BigIntegerField(default=0)),
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
                        null=True,
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
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="usage",
                        to="pool.hold",
                    ),
                ),
                (
                    "kept",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="usage",
                        to="pool.reservedcard",
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
                        null=True,
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
                    models.Index(
                        condition=models.Q(("running", True)),
                        fields=["kept"],
                        name="usage_kept_running",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("hold", "hour"), name="usage_once_a_hold_and_hour"
                    ),
                    models.UniqueConstraint(fields=("kept", "hour"), name="usage_once_a_kept_card"),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("hold__isnull", False),
                                ("kept", None),
                                ("kind", "held"),
                                ("workload__isnull", False),
                            ),
                            models.Q(
                                ("hold", None),
                                ("kept__isnull", False),
                                ("kind", "kept-idle"),
                                ("workload", None),
                            ),
                            _connector="OR",
                        ),
                        name="usage_of_a_hold_or_a_kept_card",
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
        migrations.CreateModel(
            name="Dispute",
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
                        editable=False, max_length=48, prefix="dp", unique=True
                    ),
                ),
                ("line_id", models.CharField(max_length=24)),
                ("text", models.TextField(max_length=2000)),
                ("asked_micro", models.BigIntegerField(blank=True, null=True)),
                ("state", models.CharField(default="open", max_length=10)),
                ("opened_at", models.DateTimeField(auto_now_add=True)),
                ("answer", models.TextField(blank=True, max_length=2000)),
                ("answered_by", models.CharField(blank=True, max_length=160)),
                ("answered_at", models.DateTimeField(blank=True, null=True)),
                ("granted_micro", models.BigIntegerField(default=0)),
                (
                    "opened_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="pool.project",
                    ),
                ),
                (
                    "month",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="disputes",
                        to="billing.month",
                    ),
                ),
            ],
            options={
                "ordering": ["-pk"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "state__in",
                                [
                                    billing.rating.months.DisputeState["ACCEPTED"],
                                    billing.rating.months.DisputeState["OPEN"],
                                    billing.rating.months.DisputeState["REFUSED"],
                                ],
                            )
                        ),
                        name="dispute_state_known",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("state", "open")),
                        fields=("month", "line_id"),
                        name="dispute_one_open_a_line",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="StatementLine",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("number", models.PositiveIntegerField()),
                ("line_id", models.CharField(max_length=24)),
                ("project_slug", models.CharField(blank=True, max_length=63)),
                ("cost_centre", models.CharField(blank=True, max_length=63)),
                ("card_model", models.CharField(blank=True, max_length=80)),
                ("mode", models.CharField(blank=True, max_length=16)),
                ("price_class", models.CharField(blank=True, max_length=32)),
                ("account", models.CharField(max_length=16)),
                ("late", models.BooleanField(default=False)),
                ("card_us", models.BigIntegerField()),
                ("amount_micro", models.BigIntegerField()),
                ("amount_cents", models.BigIntegerField()),
                (
                    "month",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="lines",
                        to="billing.month",
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="pool.project",
                    ),
                ),
            ],
            options={
                "ordering": ["month", "number"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("month", "line_id"), name="statement_line_once"
                    ),
                    models.UniqueConstraint(
                        fields=("month", "number"), name="statement_line_numbered"
                    ),
                ],
            },
        ),
        migrations.RunSQL(_LEDGER.LEDGER, _LEDGER.BACK),
    ]
