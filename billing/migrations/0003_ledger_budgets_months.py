"""The ledger's models, budgets, contracts, months and their lines."""

import django.contrib.postgres.fields.ranges
import django.db.models.deletion
import pool.models.ids
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("billing", "0002_usage_of_kept_cards"),
        ("pool", "0028_alert_rules_routes_and_ways"),
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
            ],
            options={
                "ordering": ["organization", "project", "user", "pk"],
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
            ],
            options={
                "ordering": ["-since", "-pk"],
            },
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
            ],
            options={
                "ordering": ["-pk"],
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
            ],
            options={
                "ordering": ["-pk"],
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
            ],
            options={
                "ordering": ["-first", "organization"],
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
            ],
            options={
                "ordering": ["-first", "kind", "pk"],
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
            ],
            options={
                "ordering": ["month", "number"],
            },
        ),
        migrations.RemoveConstraint(
            model_name="price",
            name="price_unit_known",
        ),
        migrations.AddField(
            model_name="usage",
            name="known_us",
            field=models.BigIntegerField(default=0),
        ),
        migrations.AddField(
            model_name="usage",
            name="preemptible",
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name="usage",
            name="used_us",
            field=models.BigIntegerField(default=0),
        ),
        migrations.AddConstraint(
            model_name="price",
            constraint=models.CheckConstraint(
                condition=models.Q(("unit__in", ["card", "core", "gib", "seat"])),
                name="price_unit_known",
            ),
        ),
        migrations.AddField(
            model_name="budget",
            name="organization",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT,
                related_name="budgets",
                to="pool.organization",
            ),
        ),
        migrations.AddField(
            model_name="budget",
            name="project",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="budgets",
                to="pool.project",
            ),
        ),
        migrations.AddField(
            model_name="budget",
            name="user",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="contract",
            name="organization",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="contracts",
                to="pool.organization",
            ),
        ),
        migrations.AddField(
            model_name="discount",
            name="organization",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="pool.organization",
            ),
        ),
        migrations.AddField(
            model_name="discount",
            name="partition",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="pool.partition",
            ),
        ),
        migrations.AddField(
            model_name="discount",
            name="project",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="pool.project",
            ),
        ),
        migrations.AddField(
            model_name="dispute",
            name="opened_by",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="dispute",
            name="project",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="+", to="pool.project"
            ),
        ),
        migrations.AddField(
            model_name="month",
            name="organization",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT,
                related_name="months",
                to="pool.organization",
            ),
        ),
        migrations.AddField(
            model_name="dispute",
            name="month",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT,
                related_name="disputes",
                to="billing.month",
            ),
        ),
        migrations.AddField(
            model_name="overhead",
            name="organization",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="pool.organization",
            ),
        ),
        migrations.AddField(
            model_name="statementline",
            name="month",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT,
                related_name="lines",
                to="billing.month",
            ),
        ),
        migrations.AddField(
            model_name="statementline",
            name="project",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="pool.project",
            ),
        ),
        migrations.AddConstraint(
            model_name="budget",
            constraint=models.UniqueConstraint(
                condition=models.Q(("removed_at", None)),
                fields=("organization", "project", "user", "measure", "every", "starts_on"),
                name="budget_once",
                nulls_distinct=False,
            ),
        ),
        migrations.AddConstraint(
            model_name="budget",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("action__in", ["approval", "block", "notify", "stop_preemptible"]),
                    ("every__in", ["custom", "month", "quarter"]),
                    ("measure__in", ["card_hours", "money"]),
                ),
                name="budget_words_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="budget",
            constraint=models.CheckConstraint(
                condition=models.Q(("limit_micro__gte", 0), ("overdraft_micro__gte", 0)),
                name="budget_numbers_sane",
            ),
        ),
        migrations.AddConstraint(
            model_name="budget",
            constraint=models.CheckConstraint(
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
        ),
        migrations.AddConstraint(
            model_name="contract",
            constraint=models.UniqueConstraint(
                fields=("organization", "since"), name="contract_one_a_month", nulls_distinct=False
            ),
        ),
        migrations.AddConstraint(
            model_name="contract",
            constraint=models.CheckConstraint(
                condition=models.Q(("basis__in", ["max", "reserved", "used"])),
                name="contract_basis_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="contract",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("down_by__in", ["platform", "shared"]),
                    ("idle_by__in", ["platform", "shared"]),
                    ("stranded_by__in", ["holders", "platform"]),
                ),
                name="contract_payers_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="contract",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("floor_milli__lte", 1000), ("minimum_micro__gte", 0), ("tax_milli__lte", 1000)
                ),
                name="contract_numbers_sane",
            ),
        ),
        migrations.AddConstraint(
            model_name="discount",
            constraint=models.CheckConstraint(
                condition=models.Q(("kind__in", ["agreement", "off_peak", "preemptible"])),
                name="discount_kind_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="discount",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("from_hour__lte", 23),
                    ("milli__gte", 1),
                    ("milli__lte", 1000),
                    ("to_hour__lte", 23),
                ),
                name="discount_numbers_sane",
            ),
        ),
        migrations.AddConstraint(
            model_name="discount",
            constraint=models.CheckConstraint(
                condition=models.Q(("valid__isempty", False), ("valid__lower_inf", False)),
                name="discount_span_not_empty",
            ),
        ),
        migrations.AddConstraint(
            model_name="month",
            constraint=models.UniqueConstraint(fields=("organization", "first"), name="month_once"),
        ),
        migrations.AddConstraint(
            model_name="month",
            constraint=models.CheckConstraint(
                condition=models.Q(("state__in", ["closed", "provisional", "reviewed"])),
                name="month_state_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="month",
            constraint=models.CheckConstraint(
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
        ),
        migrations.AddConstraint(
            model_name="dispute",
            constraint=models.CheckConstraint(
                condition=models.Q(("state__in", ["accepted", "open", "refused"])),
                name="dispute_state_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="dispute",
            constraint=models.UniqueConstraint(
                condition=models.Q(("state", "open")),
                fields=("month", "line_id"),
                name="dispute_one_open_a_line",
            ),
        ),
        migrations.AddConstraint(
            model_name="overhead",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("kind__in", ["adaptation", "licences", "operations", "other", "people"])
                ),
                name="overhead_kind_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="overhead",
            constraint=models.CheckConstraint(
                condition=models.Q(("amount_micro__gte", 0)), name="overhead_not_negative"
            ),
        ),
        migrations.AddConstraint(
            model_name="statementline",
            constraint=models.UniqueConstraint(
                fields=("month", "line_id"), name="statement_line_once"
            ),
        ),
        migrations.AddConstraint(
            model_name="statementline",
            constraint=models.UniqueConstraint(
                fields=("month", "number"), name="statement_line_numbered"
            ),
        ),
    ]
