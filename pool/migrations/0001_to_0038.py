"""All tables as 0001 to 0038 leave them, in a tenth of their time: for new installations.

Those that began with the single steps go on with them; Django counts this one as done then.
"""

from importlib import import_module
from typing import Any

import django.contrib.auth.models
import django.contrib.auth.validators
import django.contrib.postgres.constraints
import django.contrib.postgres.fields
import django.contrib.postgres.fields.ranges
import django.contrib.postgres.indexes
import django.core.validators
import django.db.models.deletion
import django.db.models.fields.json
import django.db.models.functions.comparison
import django.db.models.functions.datetime
import django.utils.timezone
import nodeagent.protocol.notebooks
import nodeagent.protocol.vocabulary
import pool.lifecycle.alerts
import pool.lifecycle.cards
import pool.lifecycle.catalogue
import pool.lifecycle.found
import pool.lifecycle.idleness
import pool.lifecycle.leases
import pool.lifecycle.nodes
import pool.lifecycle.placements
import pool.lifecycle.requests
import pool.lifecycle.reservations
import pool.lifecycle.roles
import pool.lifecycle.schedules
import pool.lifecycle.slices
import pool.lifecycle.targets
import pool.lifecycle.windows
import pool.lifecycle.workloads
import pool.lifecycle.yielding
import pool.models.ids
import pool.rules.alerting.terms
import pool.rules.dependencies
import pool.rules.notices
import pool.rules.schedules
from django.conf import settings
from django.contrib.postgres.operations import BtreeGistExtension, TrigramExtension
from django.db import migrations, models

_SPANS = import_module("pool.migrations.0002_clock_spans_logs")
_MORE_READINGS = import_module("pool.migrations.0021_catalogues_and_throughput")
_ROLLUPS = import_module("pool.migrations.0023_readings_by_minute_and_hour")


def first_row(apps: Any, editor: Any) -> None:
    """The one row of the installation."""
    apps.get_model("pool", "Installation").objects.create(pk=1)


class Migration(migrations.Migration):
    initial = True

    replaces = [
        ("pool", "0001_tables"),
        ("pool", "0002_clock_spans_logs"),
        ("pool", "0003_room_being_made"),
        ("pool", "0004_what_was_asked"),
        ("pool", "0005_watch_that_was_away"),
        ("pool", "0006_watched_by_any_machine"),
        ("pool", "0007_what_was_used"),
        ("pool", "0008_rounds_and_held_queues"),
        ("pool", "0009_calendar_and_policies"),
        ("pool", "0010_gangs_of_ranks"),
        ("pool", "0011_orders_to_give_way"),
        ("pool", "0012_arrays_dependencies_schedules"),
        ("pool", "0013_errors_of_cards"),
        ("pool", "0014_work_that_became_impossible"),
        ("pool", "0015_minimum_run_time"),
        ("pool", "0016_accuracy_of_durations"),
        ("pool", "0017_planned_quotas_and_cutbacks"),
        ("pool", "0018_people_come_and_go"),
        ("pool", "0019_places_in_the_queue"),
        ("pool", "0020_notices_deputies_and_policies"),
        ("pool", "0021_catalogues_and_throughput"),
        ("pool", "0022_notebooks_and_idle_rules"),
        ("pool", "0023_readings_by_minute_and_hour"),
        ("pool", "0024_retries_as_asked"),
        ("pool", "0025_when_cards_were_kept"),
        ("pool", "0026_work_that_nobody_planned"),
        ("pool", "0027_counted_holds"),
        ("pool", "0028_alert_rules_routes_and_ways"),
        ("pool", "0029_who_named_accounts_and_whose_files"),
        ("pool", "0030_notices_about_people"),
        ("pool", "0031_turns_of_long_arrays"),
        ("pool", "0032_requests_that_wait"),
        ("pool", "0033_nights_and_quiet_hours"),
        ("pool", "0034_learned_bandwidth"),
        ("pool", "0035_runs_that_are_given_things"),
        ("pool", "0036_requests_that_wait_newest"),
        ("pool", "0037_folders_and_people_as_named"),
        ("pool", "0038_pieces_read_by_what_they_are_told"),
    ]

    dependencies = [
        ("auth", "0012_alter_user_first_name_max_length"),
    ]

    operations = [
        BtreeGistExtension(),
        TrigramExtension(),
        migrations.CreateModel(
            name="Event",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("epoch", models.IntegerField()),
                ("xact", models.BigIntegerField()),
                ("kind", models.CharField(max_length=60)),
                ("subject", models.CharField(max_length=80)),
                ("organization_id", models.BigIntegerField(null=True)),
                ("project_id", models.BigIntegerField(null=True)),
                ("actor_kind", models.CharField(max_length=8)),
                ("actor_id", models.CharField(max_length=64)),
                ("actor_label", models.CharField(max_length=160)),
                ("request_id", models.CharField(default="", max_length=64)),
                ("data", models.JSONField(default=dict)),
                ("at", models.DateTimeField()),
            ],
            options={
                "db_table": "pool_event",
                "ordering": ["epoch", "xact", "id"],
                "managed": False,
            },
        ),
        migrations.CreateModel(
            name="HourRollup",
            fields=[
                ("at", models.DateTimeField(primary_key=True, serialize=False)),
                ("card_id", models.BigIntegerField()),
                ("slice_id", models.BigIntegerField(null=True)),
                ("attempt_id", models.BigIntegerField(null=True)),
                ("seconds", models.FloatField()),
                (
                    "mean",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.FloatField(null=True), size=None
                    ),
                ),
                (
                    "p95",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.FloatField(null=True), null=True, size=None
                    ),
                ),
                (
                    "peak",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.FloatField(null=True), size=None
                    ),
                ),
                (
                    "known",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.FloatField(), size=None
                    ),
                ),
            ],
            options={
                "db_table": "pool_rollup_hour",
                "managed": False,
            },
        ),
        migrations.CreateModel(
            name="MinuteRollup",
            fields=[
                ("at", models.DateTimeField(primary_key=True, serialize=False)),
                ("card_id", models.BigIntegerField()),
                ("slice_id", models.BigIntegerField(null=True)),
                ("attempt_id", models.BigIntegerField(null=True)),
                ("seconds", models.FloatField()),
                (
                    "mean",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.FloatField(null=True), size=None
                    ),
                ),
                (
                    "p95",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.FloatField(null=True), null=True, size=None
                    ),
                ),
                (
                    "peak",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.FloatField(null=True), size=None
                    ),
                ),
                (
                    "known",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.FloatField(), size=None
                    ),
                ),
            ],
            options={
                "db_table": "pool_rollup_minute",
                "managed": False,
            },
        ),
        migrations.CreateModel(
            name="Sample",
            fields=[
                ("at", models.DateTimeField(primary_key=True, serialize=False)),
                ("card_id", models.BigIntegerField()),
                ("slice_id", models.BigIntegerField(null=True)),
                ("attempt_id", models.BigIntegerField(null=True)),
                ("seconds", models.FloatField()),
                ("util_mean", models.FloatField(null=True)),
                ("util_max", models.FloatField(null=True)),
                ("sm_mean", models.FloatField(null=True)),
                ("sm_max", models.FloatField(null=True)),
                ("occupancy_mean", models.FloatField(null=True)),
                ("memory_mib_mean", models.FloatField(null=True)),
                ("memory_mib_max", models.FloatField(null=True)),
                ("bandwidth_mean", models.FloatField(null=True)),
                ("pcie_mib_s", models.FloatField(null=True)),
                ("nvlink_mib_s", models.FloatField(null=True)),
                ("power_w_mean", models.FloatField(null=True)),
                ("power_w_max", models.FloatField(null=True)),
                ("temperature_c_max", models.FloatField(null=True)),
                ("cpu_milli_mean", models.FloatField(null=True)),
                ("ram_mib_mean", models.FloatField(null=True)),
                ("disk_mib_s", models.FloatField(null=True)),
                ("net_mib_s", models.FloatField(null=True)),
                ("encoder_mean", models.FloatField(null=True)),
                ("decoder_mean", models.FloatField(null=True)),
                ("ecc_corrected", models.BigIntegerField(null=True)),
                ("ecc_uncorrected", models.BigIntegerField(null=True)),
                ("throttle", models.BigIntegerField(null=True)),
                ("samples_s", models.FloatField(null=True)),
                ("tokens_s", models.FloatField(null=True)),
                ("queries_s", models.FloatField(null=True)),
                ("latency_ms", models.FloatField(null=True)),
                ("fidelity", models.CharField(max_length=12)),
            ],
            options={
                "db_table": "pool_sample",
                "managed": False,
            },
        ),
        migrations.CreateModel(
            name="Registry",
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
                        editable=False, max_length=48, prefix="rg", unique=True
                    ),
                ),
                ("prefix", models.CharField(max_length=200, unique=True)),
                ("note", models.CharField(blank=True, max_length=200)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
            ],
            options={
                "verbose_name_plural": "registries",
                "ordering": ["prefix"],
            },
        ),
        migrations.CreateModel(
            name="TrustGroup",
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
                        editable=False, max_length=48, prefix="tg", unique=True
                    ),
                ),
                ("name", models.CharField(max_length=80, unique=True)),
            ],
        ),
        migrations.CreateModel(
            name="User",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("password", models.CharField(max_length=128, verbose_name="password")),
                (
                    "last_login",
                    models.DateTimeField(blank=True, null=True, verbose_name="last login"),
                ),
                (
                    "is_superuser",
                    models.BooleanField(
                        default=False,
                        help_text="Designates that this user has all permissions without explicitly assigning them.",
                        verbose_name="superuser status",
                    ),
                ),
                (
                    "username",
                    models.CharField(
                        error_messages={"unique": "A user with that username already exists."},
                        help_text="Required. 150 characters or fewer. Letters, digits and @/./+/-/_ only.",
                        max_length=150,
                        unique=True,
                        validators=[django.contrib.auth.validators.UnicodeUsernameValidator()],
                        verbose_name="username",
                    ),
                ),
                (
                    "first_name",
                    models.CharField(blank=True, max_length=150, verbose_name="first name"),
                ),
                (
                    "last_name",
                    models.CharField(blank=True, max_length=150, verbose_name="last name"),
                ),
                (
                    "email",
                    models.EmailField(blank=True, max_length=254, verbose_name="email address"),
                ),
                (
                    "is_staff",
                    models.BooleanField(
                        default=False,
                        help_text="Designates whether the user can log into this admin site.",
                        verbose_name="staff status",
                    ),
                ),
                (
                    "is_active",
                    models.BooleanField(
                        default=True,
                        help_text="Designates whether this user should be treated as active. Unselect this instead of deleting accounts.",
                        verbose_name="active",
                    ),
                ),
                (
                    "date_joined",
                    models.DateTimeField(
                        default=django.utils.timezone.now, verbose_name="date joined"
                    ),
                ),
                (
                    "uid",
                    pool.models.ids.UidField(
                        editable=False, max_length=48, prefix="us", unique=True
                    ),
                ),
                ("display_name", models.CharField(blank=True, max_length=120)),
                ("language", models.CharField(blank=True, default="", max_length=12)),
                ("zone", models.CharField(blank=True, default="", max_length=64)),
                ("unix_account", models.CharField(blank=True, default="", max_length=64)),
                ("service_account", models.BooleanField(default=False)),
                ("left_at", models.DateTimeField(blank=True, null=True)),
                ("winds_down_at", models.DateTimeField(blank=True, null=True)),
                ("example", models.BooleanField(default=False)),
                ("source", models.CharField(blank=True, default="", max_length=8)),
                (
                    "groups",
                    models.ManyToManyField(
                        blank=True,
                        help_text="The groups this user belongs to. A user will get all permissions granted to each of their groups.",
                        related_name="user_set",
                        related_query_name="user",
                        to="auth.group",
                        verbose_name="groups",
                    ),
                ),
                (
                    "heir",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="inherits_from",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "user_permissions",
                    models.ManyToManyField(
                        blank=True,
                        help_text="Specific permissions for this user.",
                        related_name="user_set",
                        related_query_name="user",
                        to="auth.permission",
                        verbose_name="user permissions",
                    ),
                ),
            ],
            options={
                "verbose_name": "user",
                "verbose_name_plural": "users",
                "ordering": ["username"],
                "abstract": False,
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("left_at", None), ("is_active", False), _connector="OR"
                        ),
                        name="user_who_left_is_not_active",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("source__in", ("", "file", "ldap", "oidc"))),
                        name="user_source_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("heir", None),
                            models.Q(("heir", models.F("id")), _negated=True),
                            _connector="OR",
                        ),
                        name="user_heir_is_another",
                    ),
                ],
            },
            managers=[
                ("objects", django.contrib.auth.models.UserManager()),
            ],
        ),
        migrations.CreateModel(
            name="AlertChannel",
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
                        editable=False, max_length=48, prefix="ac", unique=True
                    ),
                ),
                ("name", models.CharField(max_length=120, unique=True)),
                ("kind", models.CharField(max_length=12)),
                ("target", models.CharField(blank=True, max_length=1000)),
                ("sealed", models.TextField(blank=True)),
                ("enabled", models.BooleanField(default=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("tested_at", models.DateTimeField(blank=True, null=True)),
                ("test_error", models.CharField(blank=True, max_length=200)),
            ],
            options={
                "ordering": ["name"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "kind__in",
                                [
                                    pool.rules.alerting.terms.ChannelKind["ALERTMANAGER"],
                                    pool.rules.alerting.terms.ChannelKind["DINGTALK"],
                                    pool.rules.alerting.terms.ChannelKind["FEISHU"],
                                    pool.rules.alerting.terms.ChannelKind["MAIL"],
                                    pool.rules.alerting.terms.ChannelKind["PORTAL"],
                                    pool.rules.alerting.terms.ChannelKind["SLACK"],
                                    pool.rules.alerting.terms.ChannelKind["WEBHOOK"],
                                    pool.rules.alerting.terms.ChannelKind["WECOM"],
                                ],
                            )
                        ),
                        name="alert_channel_kind_known",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="AlertRule",
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
                        editable=False, max_length=48, prefix="ar", unique=True
                    ),
                ),
                ("slug", models.SlugField(max_length=63, unique=True)),
                ("name", models.CharField(max_length=120)),
                ("family", models.CharField(max_length=12)),
                ("severity", models.CharField(max_length=12)),
                ("metric", models.CharField(max_length=24)),
                ("scope", models.CharField(max_length=12)),
                ("aggregate", models.CharField(max_length=12)),
                ("window_seconds", models.PositiveIntegerField()),
                ("side", models.CharField(max_length=6)),
                ("threshold", models.FloatField()),
                ("clear_threshold", models.FloatField(blank=True, null=True)),
                ("for_seconds", models.PositiveIntegerField(default=0)),
                ("clear_seconds", models.PositiveIntegerField(default=0)),
                ("held_only", models.BooleanField(default=False)),
                ("enabled", models.BooleanField(default=True)),
                ("built_in", models.BooleanField(default=False)),
                ("looked_at", models.DateTimeField(blank=True, null=True)),
                ("changed_at", models.DateTimeField(auto_now=True)),
            ],
            options={
                "ordering": ["family", "name"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "aggregate__in",
                                [
                                    pool.rules.alerting.terms.Aggregate["INCREASE"],
                                    pool.rules.alerting.terms.Aggregate["LAST"],
                                    pool.rules.alerting.terms.Aggregate["MAX"],
                                    pool.rules.alerting.terms.Aggregate["MEAN"],
                                    pool.rules.alerting.terms.Aggregate["MIN"],
                                    pool.rules.alerting.terms.Aggregate["P95"],
                                ],
                            ),
                            (
                                "family__in",
                                [
                                    pool.rules.alerting.terms.Family["HARDWARE"],
                                    pool.rules.alerting.terms.Family["PERFORMANCE"],
                                    pool.rules.alerting.terms.Family["WORKLOAD"],
                                ],
                            ),
                            (
                                "metric__in",
                                [
                                    "bandwidth",
                                    "ecc",
                                    "held",
                                    "memory",
                                    "nvlink",
                                    "occupancy",
                                    "pcie",
                                    "power",
                                    "power_share",
                                    "queue_wait",
                                    "sm",
                                    "temperature",
                                    "throttle",
                                    "unhealthy",
                                    "util",
                                ],
                            ),
                            (
                                "scope__in",
                                [
                                    pool.rules.alerting.terms.Scope["CARD"],
                                    pool.rules.alerting.terms.Scope["NODE"],
                                    pool.rules.alerting.terms.Scope["PARTITION"],
                                    pool.rules.alerting.terms.Scope["POOL"],
                                    pool.rules.alerting.terms.Scope["PROJECT"],
                                    pool.rules.alerting.terms.Scope["WORKLOAD"],
                                ],
                            ),
                            (
                                "severity__in",
                                [
                                    pool.rules.alerting.terms.Severity["CRITICAL"],
                                    pool.rules.alerting.terms.Severity["INFO"],
                                    pool.rules.alerting.terms.Severity["WARNING"],
                                ],
                            ),
                            (
                                "side__in",
                                [
                                    pool.rules.alerting.terms.Side["ABOVE"],
                                    pool.rules.alerting.terms.Side["BELOW"],
                                ],
                            ),
                        ),
                        name="alert_rule_words_known",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="ClockShift",
            fields=[
                ("id", models.SmallIntegerField(default=1, primary_key=True, serialize=False)),
                ("base_real", models.DateTimeField()),
                ("base_pool", models.DateTimeField()),
                ("speed", models.FloatField(default=1.0)),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("id", 1)), name="clock_shift_one_row"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("speed__gt", 0)), name="clock_shift_runs_on"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Installation",
            fields=[
                ("id", models.SmallIntegerField(default=1, primary_key=True, serialize=False)),
                ("epoch", models.IntegerField(default=1)),
                ("epoch_raised_at", models.DateTimeField(blank=True, null=True)),
                ("example", models.BooleanField(default=False)),
                ("first_run", models.CharField(default="", max_length=12)),
                ("round_wanted", models.BigIntegerField(default=0)),
                ("round_done", models.BigIntegerField(default=0)),
                ("wait_target_s", models.PositiveIntegerField(default=1800)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("id", 1)), name="installation_one_row"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Node",
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
                        editable=False, max_length=48, prefix="nd", unique=True
                    ),
                ),
                ("name", models.CharField(max_length=253)),
                ("name_folded", models.CharField(max_length=300, unique=True)),
                (
                    "state",
                    models.CharField(
                        default=pool.lifecycle.nodes.NodeState["JOINING"], max_length=12
                    ),
                ),
                ("state_since", models.DateTimeField(auto_now_add=True)),
                ("state_before", models.CharField(blank=True, max_length=12)),
                ("state_reason", models.CharField(blank=True, max_length=200)),
                ("generation", models.BigIntegerField(default=0)),
                ("credential_hash", models.CharField(blank=True, db_index=True, max_length=64)),
                ("credential_issued_at", models.DateTimeField(blank=True, null=True)),
                ("observe", models.BooleanField(default=False)),
                ("example", models.BooleanField(default=False)),
                ("joined_at", models.DateTimeField(auto_now_add=True)),
                ("boot_id", models.CharField(blank=True, max_length=64)),
                ("labels", models.JSONField(default=dict)),
                ("cpu_milli", models.BigIntegerField(default=0)),
                ("memory_mib", models.BigIntegerField(default=0)),
                ("disk_mib", models.BigIntegerField(default=0)),
                ("identity", models.BooleanField(default=False)),
                ("fence", models.BooleanField(default=False)),
                ("simulated", models.BooleanField(default=False)),
                ("host", models.JSONField(default=dict)),
                ("agent_version", models.CharField(blank=True, max_length=40)),
                ("protocol", models.PositiveSmallIntegerField(default=1)),
                ("skew_s", models.FloatField(blank=True, null=True)),
                ("reached", models.BigIntegerField(default=0)),
                ("last_report_at", models.DateTimeField(blank=True, null=True)),
                ("report_count", models.BigIntegerField(default=0)),
                ("sample_boot_id", models.CharField(blank=True, max_length=64)),
                ("sample_sequence", models.BigIntegerField(default=0)),
            ],
            options={
                "ordering": ["name_folded"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "state__in",
                                [
                                    pool.lifecycle.nodes.NodeState["CORDONED"],
                                    pool.lifecycle.nodes.NodeState["DRAINING"],
                                    pool.lifecycle.nodes.NodeState["JOINING"],
                                    pool.lifecycle.nodes.NodeState["LOST"],
                                    pool.lifecycle.nodes.NodeState["OBSERVED"],
                                    pool.lifecycle.nodes.NodeState["READY"],
                                    pool.lifecycle.nodes.NodeState["RETIRED"],
                                    pool.lifecycle.nodes.NodeState["SILENT"],
                                ],
                            )
                        ),
                        name="node_state_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("name", ""), _negated=True), name="node_has_name"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="JoinToken",
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
                        editable=False, max_length=48, prefix="jt", unique=True
                    ),
                ),
                ("token_hash", models.CharField(max_length=64, unique=True)),
                ("node_name", models.CharField(blank=True, max_length=253)),
                ("expires_at", models.DateTimeField()),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("used_at", models.DateTimeField(blank=True, null=True)),
                (
                    "used_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        to="pool.node",
                    ),
                ),
            ],
            options={
                "ordering": ["-pk"],
            },
        ),
        migrations.CreateModel(
            name="Attempt",
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
                        editable=False, max_length=48, prefix="at", unique=True
                    ),
                ),
                ("number", models.PositiveIntegerField()),
                (
                    "state",
                    models.CharField(
                        default=pool.lifecycle.workloads.AttemptState["OPEN"], max_length=8
                    ),
                ),
                ("size", models.PositiveSmallIntegerField(default=1)),
                ("master_port", models.PositiveIntegerField(blank=True, null=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("accepted_at", models.DateTimeField(blank=True, null=True)),
                ("started_at", models.DateTimeField(blank=True, null=True)),
                ("ended_at", models.DateTimeField(blank=True, null=True)),
                ("exit_code", models.IntegerField(blank=True, null=True)),
                ("exit_reason", models.CharField(blank=True, max_length=16)),
                ("message", models.CharField(blank=True, max_length=400)),
                ("stop_asked_at", models.DateTimeField(blank=True, null=True)),
                ("log_bytes", models.BigIntegerField(default=0)),
                ("peak_memory_mib", models.PositiveIntegerField(blank=True, null=True)),
                ("checkpoint_step", models.BigIntegerField(blank=True, null=True)),
                ("checkpoint_at", models.DateTimeField(blank=True, null=True)),
                ("checkpoint_path", models.CharField(blank=True, max_length=400)),
                ("checkpoint_warned_at", models.DateTimeField(blank=True, null=True)),
                ("overran_at", models.DateTimeField(blank=True, null=True)),
                ("draining", models.BooleanField(default=False)),
                ("billable", models.BooleanField(default=True)),
                ("clean_at", models.DateTimeField(blank=True, null=True)),
                (
                    "node",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="attempts",
                        to="pool.node",
                    ),
                ),
            ],
            options={
                "ordering": ["workload", "number"],
                "indexes": [
                    models.Index(
                        condition=models.Q(("state", "open")),
                        fields=["node"],
                        name="attempt_open_on_node",
                    ),
                    models.Index(
                        condition=models.Q(("clean_at", None), ("state", "ended")),
                        fields=["node"],
                        name="attempt_unsettled_on_node",
                    ),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "state__in",
                                [
                                    pool.lifecycle.workloads.AttemptState["ENDED"],
                                    pool.lifecycle.workloads.AttemptState["OPEN"],
                                ],
                            )
                        ),
                        name="attempt_state_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "exit_reason__in",
                                [
                                    "",
                                    nodeagent.protocol.vocabulary.ExitReason["CANCELLED"],
                                    nodeagent.protocol.vocabulary.ExitReason["FENCED"],
                                    nodeagent.protocol.vocabulary.ExitReason["FINISHED"],
                                    nodeagent.protocol.vocabulary.ExitReason["IMPOSSIBLE"],
                                    nodeagent.protocol.vocabulary.ExitReason["KILLED"],
                                    nodeagent.protocol.vocabulary.ExitReason["LIMIT"],
                                    nodeagent.protocol.vocabulary.ExitReason["NEIGHBOUR"],
                                    nodeagent.protocol.vocabulary.ExitReason["NODE_LOST"],
                                    nodeagent.protocol.vocabulary.ExitReason["NODE_STOPPED"],
                                    nodeagent.protocol.vocabulary.ExitReason["OOM_CARD"],
                                    nodeagent.protocol.vocabulary.ExitReason["OOM_HOST"],
                                    nodeagent.protocol.vocabulary.ExitReason["OWN_ERROR"],
                                    nodeagent.protocol.vocabulary.ExitReason["PREEMPTED"],
                                    nodeagent.protocol.vocabulary.ExitReason["RANK_DIED"],
                                    nodeagent.protocol.vocabulary.ExitReason["RECLAIMED"],
                                    nodeagent.protocol.vocabulary.ExitReason["START_FAILED"],
                                    nodeagent.protocol.vocabulary.ExitReason["STOPPED"],
                                ],
                            )
                        ),
                        name="attempt_exit_reason_known",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Notice",
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
                        editable=False, max_length=48, prefix="nt", unique=True
                    ),
                ),
                ("kind", models.CharField(max_length=24)),
                ("about", models.CharField(max_length=80)),
                ("key", models.CharField(max_length=200)),
                ("text", models.CharField(max_length=400)),
                ("values", models.JSONField(default=dict)),
                ("at", models.DateTimeField(auto_now_add=True)),
                ("read_at", models.DateTimeField(blank=True, null=True)),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="notices",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["-pk"],
                "indexes": [
                    models.Index(fields=["user", "-id"], name="notice_by_user"),
                    models.Index(
                        condition=models.Q(("read_at", None)), fields=["user"], name="notice_unread"
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("user", "key"), name="notice_once"),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "kind__in",
                                [
                                    pool.rules.notices.NoticeKind["ALERT"],
                                    pool.rules.notices.NoticeKind["ASKED_BACK"],
                                    pool.rules.notices.NoticeKind["COMMENTED"],
                                    pool.rules.notices.NoticeKind["DECIDED"],
                                    pool.rules.notices.NoticeKind["DEPUTY"],
                                    pool.rules.notices.NoticeKind["EXPIRY"],
                                    pool.rules.notices.NoticeKind["IDLE"],
                                    pool.rules.notices.NoticeKind["MONEY"],
                                    pool.rules.notices.NoticeKind["PEOPLE"],
                                    pool.rules.notices.NoticeKind["RECALL"],
                                    pool.rules.notices.NoticeKind["REMINDER"],
                                    pool.rules.notices.NoticeKind["TO_DECIDE"],
                                    pool.rules.notices.NoticeKind["WORK"],
                                ],
                            )
                        ),
                        name="notice_kind_known",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="NoticeChoice",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("kind", models.CharField(max_length=24)),
                ("channel", models.CharField(max_length=8)),
                ("how", models.CharField(max_length=8)),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="notice_choices",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["pk"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("user", "kind", "channel"), name="notice_choice_once"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "channel__in",
                                [
                                    pool.rules.notices.Channel["HOOK"],
                                    pool.rules.notices.Channel["MAIL"],
                                ],
                            ),
                            (
                                "how__in",
                                [
                                    pool.rules.notices.How["AT_ONCE"],
                                    pool.rules.notices.How["DAILY"],
                                    pool.rules.notices.How["OFF"],
                                ],
                            ),
                            (
                                "kind__in",
                                [
                                    pool.rules.notices.NoticeKind["ALERT"],
                                    pool.rules.notices.NoticeKind["ASKED_BACK"],
                                    pool.rules.notices.NoticeKind["COMMENTED"],
                                    pool.rules.notices.NoticeKind["DECIDED"],
                                    pool.rules.notices.NoticeKind["DEPUTY"],
                                    pool.rules.notices.NoticeKind["EXPIRY"],
                                    pool.rules.notices.NoticeKind["IDLE"],
                                    pool.rules.notices.NoticeKind["MONEY"],
                                    pool.rules.notices.NoticeKind["PEOPLE"],
                                    pool.rules.notices.NoticeKind["RECALL"],
                                    pool.rules.notices.NoticeKind["REMINDER"],
                                    pool.rules.notices.NoticeKind["TO_DECIDE"],
                                    pool.rules.notices.NoticeKind["WORK"],
                                ],
                            ),
                        ),
                        name="notice_choice_known",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="NoticeDelivery",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("channel", models.CharField(max_length=8)),
                ("due_at", models.DateTimeField()),
                ("tries", models.PositiveSmallIntegerField(default=0)),
                ("claimed_at", models.DateTimeField(blank=True, null=True)),
                ("sent_at", models.DateTimeField(blank=True, null=True)),
                ("given_up_at", models.DateTimeField(blank=True, null=True)),
                ("error", models.CharField(blank=True, max_length=200)),
                (
                    "notice",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="deliveries",
                        to="pool.notice",
                    ),
                ),
            ],
            options={
                "ordering": ["pk"],
                "indexes": [
                    models.Index(
                        condition=models.Q(("given_up_at", None), ("sent_at", None)),
                        fields=["due_at"],
                        name="notice_delivery_due",
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("notice", "channel"), name="notice_delivery_once"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "channel__in",
                                [
                                    pool.rules.notices.Channel["HOOK"],
                                    pool.rules.notices.Channel["MAIL"],
                                ],
                            )
                        ),
                        name="notice_delivery_channel_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("sent_at", None), ("given_up_at", None), _connector="OR"
                        ),
                        name="notice_delivery_ends_one_way",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="NoticeHook",
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
                        editable=False, max_length=48, prefix="nh", unique=True
                    ),
                ),
                ("url", models.CharField(max_length=500)),
                ("secret", models.TextField()),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "user",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="notice_hook",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Organization",
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
                        editable=False, max_length=48, prefix="org", unique=True
                    ),
                ),
                ("slug", models.SlugField(max_length=63, unique=True)),
                ("name", models.CharField(max_length=120)),
                ("zone", models.CharField(default="UTC", max_length=64)),
                ("currency", models.CharField(default="EUR", max_length=3)),
                ("example", models.BooleanField(default=False)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("archived_at", models.DateTimeField(blank=True, null=True)),
            ],
            options={
                "ordering": ["slug"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("name", ""), _negated=True),
                        name="organization_has_name",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Environment",
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
                        editable=False, max_length=48, prefix="en", unique=True
                    ),
                ),
                ("slug", models.SlugField(max_length=63, unique=True)),
                ("name", models.CharField(max_length=120)),
                (
                    "kind",
                    models.CharField(
                        default=pool.lifecycle.catalogue.EnvironmentKind["IMAGE"], max_length=8
                    ),
                ),
                ("reference", models.CharField(max_length=255)),
                ("digest", models.CharField(blank=True, max_length=71)),
                (
                    "instruction_set",
                    models.CharField(
                        default=pool.lifecycle.catalogue.InstructionSet["CUDA"], max_length=8
                    ),
                ),
                ("min_driver", models.CharField(blank=True, max_length=40)),
                ("tested", models.JSONField(default=list)),
                ("note", models.CharField(blank=True, max_length=200)),
                ("deprecated_at", models.DateTimeField(blank=True, null=True)),
                ("deprecated_note", models.CharField(blank=True, max_length=200)),
                ("active", models.BooleanField(default=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "owner",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="environments",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "organization",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="environments",
                        to="pool.organization",
                    ),
                ),
            ],
            options={
                "ordering": ["slug"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "kind__in",
                                [
                                    pool.lifecycle.catalogue.EnvironmentKind["FOLDER"],
                                    pool.lifecycle.catalogue.EnvironmentKind["IMAGE"],
                                ],
                            )
                        ),
                        name="environment_kind_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "instruction_set__in",
                                [
                                    pool.lifecycle.catalogue.InstructionSet["CANN"],
                                    pool.lifecycle.catalogue.InstructionSet["CPU"],
                                    pool.lifecycle.catalogue.InstructionSet["CUDA"],
                                    pool.lifecycle.catalogue.InstructionSet["ROCM"],
                                ],
                            )
                        ),
                        name="environment_instructions_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("kind", "image"),
                            models.Q(("digest", ""), ("reference__startswith", "/")),
                            _connector="OR",
                        ),
                        name="environment_folder_whole",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="CriticalBudget",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("month", models.DateField()),
                ("card_seconds", models.PositiveBigIntegerField()),
                ("changed_at", models.DateTimeField(auto_now=True)),
                (
                    "organization",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="critical_budgets",
                        to="pool.organization",
                    ),
                ),
            ],
            options={
                "ordering": ["organization", "-month"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("organization", "month"), name="critical_budget_once"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("month__day", 1)), name="critical_budget_month_begins"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="ApprovalPolicy",
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
                        editable=False, max_length=48, prefix="ap", unique=True
                    ),
                ),
                ("number", models.PositiveIntegerField()),
                ("steps", models.JSONField(default=list)),
                ("answer_hours", models.PositiveSmallIntegerField(default=8)),
                ("remind_hours", models.PositiveSmallIntegerField(default=4)),
                ("escalate_hours", models.PositiveSmallIntegerField(default=12)),
                ("calendar", models.JSONField(default=dict)),
                ("reason", models.CharField(blank=True, max_length=200)),
                ("at", models.DateTimeField(auto_now_add=True)),
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
                (
                    "organization",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="approval_policies",
                        to="pool.organization",
                    ),
                ),
            ],
            options={
                "ordering": ["-pk"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("organization", "number"),
                        name="approval_policy_once",
                        nulls_distinct=False,
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("answer_hours__gte", 1),
                            ("remind_hours__gte", 1),
                            ("escalate_hours__gte", models.F("remind_hours")),
                        ),
                        name="approval_policy_hours_in_order",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Partition",
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
                        editable=False, max_length=48, prefix="pt", unique=True
                    ),
                ),
                ("slug", models.SlugField(max_length=63, unique=True)),
                ("name", models.CharField(max_length=120)),
                ("selector", models.JSONField(default=dict)),
                (
                    "modes",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=16), default=list, size=None
                    ),
                ),
                ("policy", models.CharField(default="binpack", max_length=16)),
                ("class_policies", models.JSONField(default=dict)),
                ("preemption", models.BooleanField(default=True)),
                ("sharing", models.BooleanField(default=True)),
                ("lending", models.BooleanField(default=True)),
                ("open_to_all", models.BooleanField(default=True)),
                ("tolerance_points", models.PositiveSmallIntegerField(default=2)),
                ("give_back_seconds", models.PositiveIntegerField(default=300)),
                ("ceilings", models.JSONField(default=dict)),
                ("rank", models.PositiveSmallIntegerField(default=100)),
                ("example", models.BooleanField(default=False)),
                (
                    "organizations",
                    models.ManyToManyField(
                        blank=True, related_name="partitions", to="pool.organization"
                    ),
                ),
                (
                    "trust_groups",
                    models.ManyToManyField(
                        blank=True, related_name="partitions", to="pool.trustgroup"
                    ),
                ),
            ],
            options={
                "ordering": ["rank", "slug"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("policy__in", ["binpack", "spread", "fragmentation"])),
                        name="partition_policy_known",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Card",
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
                        editable=False, max_length=48, prefix="cd", unique=True
                    ),
                ),
                ("uuid", models.CharField(max_length=96, unique=True)),
                ("index", models.PositiveSmallIntegerField(default=0)),
                ("vendor", models.CharField(max_length=16)),
                ("model", models.CharField(max_length=120)),
                ("label", models.CharField(db_index=True, max_length=80)),
                ("nominal_gb", models.PositiveIntegerField()),
                ("memory_mib", models.PositiveIntegerField()),
                (
                    "modes",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=16), default=list, size=None
                    ),
                ),
                ("domain", models.CharField(blank=True, max_length=96)),
                ("numa", models.SmallIntegerField(blank=True, null=True)),
                ("strength", models.PositiveIntegerField(blank=True, null=True)),
                ("tdp_w", models.PositiveIntegerField(blank=True, null=True)),
                ("facts", models.JSONField(default=dict)),
                (
                    "state",
                    models.CharField(
                        default=pool.lifecycle.cards.CardState["READY"], max_length=12
                    ),
                ),
                ("state_since", models.DateTimeField(auto_now_add=True)),
                ("state_reason", models.CharField(blank=True, max_length=200)),
                ("clean_until", models.DateTimeField(blank=True, null=True)),
                ("errors_seen", models.BigIntegerField(default=0)),
                ("offered", models.BooleanField(default=True)),
                (
                    "node",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="cards",
                        to="pool.node",
                    ),
                ),
                (
                    "partition",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="cards",
                        to="pool.partition",
                    ),
                ),
            ],
            options={
                "ordering": ["node", "index"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "state__in",
                                [
                                    pool.lifecycle.cards.CardState["CONTESTED"],
                                    pool.lifecycle.cards.CardState["CORDONED"],
                                    pool.lifecycle.cards.CardState["LOST"],
                                    pool.lifecycle.cards.CardState["PARTIAL"],
                                    pool.lifecycle.cards.CardState["READY"],
                                    pool.lifecycle.cards.CardState["RETIRED"],
                                    pool.lifecycle.cards.CardState["SILENT"],
                                ],
                            )
                        ),
                        name="card_state_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("memory_mib__gt", 0), ("nominal_gb__gt", 0)),
                        name="card_has_memory",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Placement",
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
                        editable=False, max_length=48, prefix="pl", unique=True
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        default=pool.lifecycle.placements.PlacementState["OPEN"], max_length=8
                    ),
                ),
                ("entitled", models.BooleanField(default=True)),
                ("opened_at", models.DateTimeField()),
                ("closed_at", models.DateTimeField(blank=True, null=True)),
                ("quota_taken", models.JSONField(default=list)),
                (
                    "attempt",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="placements",
                        to="pool.attempt",
                    ),
                ),
                (
                    "partition",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="placements",
                        to="pool.partition",
                    ),
                ),
            ],
            options={
                "ordering": ["-pk"],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("state", "open")),
                        fields=("attempt",),
                        name="placement_one_open_per_attempt",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "state__in",
                                [
                                    pool.lifecycle.placements.PlacementState["CLOSED"],
                                    pool.lifecycle.placements.PlacementState["OPEN"],
                                ],
                            )
                        ),
                        name="placement_state_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("closed_at", None), ("state", "open")),
                            models.Q(("closed_at__isnull", False), ("state", "closed")),
                            _connector="OR",
                        ),
                        name="placement_closed_has_end",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="PolicyVersion",
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
                        editable=False, max_length=48, prefix="pv", unique=True
                    ),
                ),
                ("number", models.PositiveIntegerField()),
                ("values", models.JSONField(default=dict)),
                ("reason", models.CharField(blank=True, max_length=200)),
                ("actor_label", models.CharField(max_length=160)),
                ("at", models.DateTimeField(auto_now_add=True)),
                (
                    "partition",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="versions",
                        to="pool.partition",
                    ),
                ),
                (
                    "reverts",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="pool.policyversion",
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
                "ordering": ["-pk"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("partition", "number"),
                        name="policy_version_once",
                        nulls_distinct=False,
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Project",
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
                        editable=False, max_length=48, prefix="pr", unique=True
                    ),
                ),
                ("slug", models.SlugField(max_length=63, unique=True)),
                ("name", models.CharField(max_length=120)),
                ("cost_centre", models.CharField(blank=True, max_length=63)),
                ("suspended", models.BooleanField(default=False)),
                ("suspended_reason", models.CharField(blank=True, max_length=200)),
                ("queue_held", models.BooleanField(default=False)),
                ("queue_held_reason", models.CharField(blank=True, max_length=200)),
                ("most_live", models.PositiveIntegerField(default=1000)),
                ("uid_base", models.PositiveIntegerField(default=200000)),
                ("example", models.BooleanField(default=False)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("archived_at", models.DateTimeField(blank=True, null=True)),
                ("closing_since", models.DateTimeField(blank=True, null=True)),
                (
                    "moving_to",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="arriving",
                        to="pool.organization",
                    ),
                ),
                (
                    "organization",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="projects",
                        to="pool.organization",
                    ),
                ),
                (
                    "trust_group",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="projects",
                        to="pool.trustgroup",
                    ),
                ),
            ],
            options={
                "ordering": ["slug"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("name", ""), _negated=True), name="project_has_name"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("moving_to", None),
                            models.Q(
                                ("closing_since__isnull", False),
                                models.Q(("moving_to", models.F("organization")), _negated=True),
                            ),
                            _connector="OR",
                        ),
                        name="project_moves_while_closing",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("archived_at", None),
                            models.Q(("closing_since", None), ("suspended", True)),
                            _connector="OR",
                        ),
                        name="project_archived_is_closed",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("most_live__gte", 1), ("most_live__lte", 50000)),
                        name="project_most_live_sane",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="PlannedQuota",
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
                        editable=False, max_length=48, prefix="qp", unique=True
                    ),
                ),
                ("card_model", models.CharField(blank=True, default="", max_length=80)),
                ("unit", models.CharField(max_length=16)),
                ("kind", models.CharField(max_length=12)),
                ("does", models.CharField(max_length=8)),
                ("amount", models.BigIntegerField()),
                ("starts_at", models.DateTimeField()),
                ("ends_at", models.DateTimeField(blank=True, null=True)),
                (
                    "state",
                    models.CharField(
                        default=pool.lifecycle.targets.PlannedQuotaState["AHEAD"], max_length=12
                    ),
                ),
                ("state_since", models.DateTimeField(auto_now_add=True)),
                ("state_reason", models.CharField(blank=True, max_length=200)),
                ("reason", models.CharField(max_length=200)),
                ("actor_label", models.CharField(max_length=160)),
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
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="pool.partition",
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
                "indexes": [
                    models.Index(
                        condition=models.Q(("state", "ahead")),
                        fields=["starts_at"],
                        name="planned_quota_due",
                    ),
                    models.Index(
                        condition=models.Q(("state", "in_force")),
                        fields=["ends_at"],
                        name="planned_quota_ends",
                    ),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "state__in",
                                [
                                    pool.lifecycle.targets.PlannedQuotaState["AHEAD"],
                                    pool.lifecycle.targets.PlannedQuotaState["CANCELLED"],
                                    pool.lifecycle.targets.PlannedQuotaState["DONE"],
                                    pool.lifecycle.targets.PlannedQuotaState["IN_FORCE"],
                                ],
                            )
                        ),
                        name="planned_quota_state_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "does__in",
                                [
                                    pool.lifecycle.targets.PlannedQuotaKind["GRANT"],
                                    pool.lifecycle.targets.PlannedQuotaKind["SET"],
                                ],
                            )
                        ),
                        name="planned_quota_does_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "unit__in",
                                [
                                    pool.lifecycle.roles.QuotaUnit["CARD_SECONDS"],
                                    pool.lifecycle.roles.QuotaUnit["CARDS_EACH"],
                                    pool.lifecycle.roles.QuotaUnit["CARDS_MICRO"],
                                    pool.lifecycle.roles.QuotaUnit["COMPUTE_MILLI"],
                                    pool.lifecycle.roles.QuotaUnit["CPU_MILLI"],
                                    pool.lifecycle.roles.QuotaUnit["DISK_MIB"],
                                    pool.lifecycle.roles.QuotaUnit["MEMORY_MIB"],
                                    pool.lifecycle.roles.QuotaUnit["RAM_MIB"],
                                    pool.lifecycle.roles.QuotaUnit["WORKLOADS"],
                                ],
                            )
                        ),
                        name="planned_quota_unit_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "kind__in",
                                [
                                    pool.lifecycle.roles.QuotaKind["ALLOWANCE"],
                                    pool.lifecycle.roles.QuotaKind["ENTITLEMENT"],
                                    pool.lifecycle.roles.QuotaKind["LIMIT"],
                                ],
                            )
                        ),
                        name="planned_quota_kind_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("amount__gte", 0)), name="planned_quota_not_negative"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("does", "set"), ("ends_at", None)),
                            models.Q(
                                ("amount__gt", 0),
                                ("does", "grant"),
                                ("ends_at__gt", models.F("starts_at")),
                            ),
                            _connector="OR",
                        ),
                        name="planned_quota_grants_end",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("organization__isnull", False), ("project", None), ("user", None)
                            ),
                            models.Q(("organization", None), ("project__isnull", False)),
                            _connector="OR",
                        ),
                        name="planned_quota_has_one_tenant",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Membership",
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
                        editable=False, max_length=48, prefix="mb", unique=True
                    ),
                ),
                (
                    "role",
                    models.CharField(
                        choices=[
                            ("platform_admin", "platform_admin"),
                            ("org_admin", "org_admin"),
                            ("lead", "lead"),
                            ("member", "member"),
                            ("viewer", "viewer"),
                            ("billing_reader", "billing_reader"),
                        ],
                        max_length=20,
                    ),
                ),
                ("source", models.CharField(blank=True, default="", max_length=8)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="memberships",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "organization",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="memberships",
                        to="pool.organization",
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="memberships",
                        to="pool.project",
                    ),
                ),
            ],
            options={
                "ordering": ["pk"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "role__in",
                                [
                                    pool.lifecycle.roles.Role["BILLING_READER"],
                                    pool.lifecycle.roles.Role["LEAD"],
                                    pool.lifecycle.roles.Role["MEMBER"],
                                    pool.lifecycle.roles.Role["ORG_ADMIN"],
                                    pool.lifecycle.roles.Role["PLATFORM_ADMIN"],
                                    pool.lifecycle.roles.Role["VIEWER"],
                                ],
                            )
                        ),
                        name="membership_role_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("organization", None),
                                ("project", None),
                                ("role", "platform_admin"),
                            ),
                            models.Q(
                                ("project", None),
                                ("role__in", ["org_admin", "billing_reader"]),
                                ("organization__isnull", False),
                            ),
                            models.Q(
                                ("organization", None),
                                ("role__in", ["lead", "member", "viewer"]),
                                ("project__isnull", False),
                            ),
                            _connector="OR",
                        ),
                        name="membership_role_has_its_place",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("source__in", ["", "ldap", "oidc"])),
                        name="membership_source_known",
                    ),
                    models.UniqueConstraint(
                        fields=("user", "organization", "project", "role"),
                        name="membership_once",
                        nulls_distinct=False,
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Lease",
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
                        editable=False, max_length=48, prefix="ls", unique=True
                    ),
                ),
                ("need", models.JSONField(default=dict)),
                ("copies", models.PositiveIntegerField(default=1)),
                (
                    "kind",
                    models.CharField(
                        default=pool.lifecycle.leases.LeaseKind["ON_DEMAND"], max_length=12
                    ),
                ),
                ("valid", django.contrib.postgres.fields.ranges.DateTimeRangeField()),
                ("entitled", models.JSONField(default=list)),
                (
                    "state",
                    models.CharField(
                        default=pool.lifecycle.leases.LeaseState["ACTIVE"], max_length=12
                    ),
                ),
                ("state_since", models.DateTimeField(auto_now_add=True)),
                ("deadline", models.DateTimeField(blank=True, null=True)),
                ("notices_sent", models.JSONField(default=list)),
                ("recalled_at", models.DateTimeField(blank=True, null=True)),
                ("recall_reason", models.CharField(blank=True, max_length=200)),
                (
                    "partitions",
                    models.ManyToManyField(blank=True, related_name="leases", to="pool.partition"),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="leases",
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
                                "state__in",
                                [
                                    pool.lifecycle.leases.LeaseState["ACTIVE"],
                                    pool.lifecycle.leases.LeaseState["ENDED"],
                                    pool.lifecycle.leases.LeaseState["ENDING"],
                                ],
                            )
                        ),
                        name="lease_state_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "kind__in",
                                [
                                    pool.lifecycle.leases.LeaseKind["ON_DEMAND"],
                                    pool.lifecycle.leases.LeaseKind["RESERVED"],
                                ],
                            )
                        ),
                        name="lease_kind_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("valid__isempty", False), ("valid__upper_inf", False)),
                        name="lease_has_an_end",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Invitation",
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
                        editable=False, max_length=48, prefix="inv", unique=True
                    ),
                ),
                ("email", models.EmailField(max_length=254)),
                (
                    "role",
                    models.CharField(
                        choices=[
                            ("platform_admin", "platform_admin"),
                            ("org_admin", "org_admin"),
                            ("lead", "lead"),
                            ("member", "member"),
                            ("viewer", "viewer"),
                            ("billing_reader", "billing_reader"),
                        ],
                        max_length=20,
                    ),
                ),
                ("secret_hash", models.CharField(max_length=64, unique=True)),
                ("message", models.CharField(blank=True, max_length=500)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("expires_at", models.DateTimeField()),
                ("accepted_at", models.DateTimeField(blank=True, null=True)),
                ("revoked_at", models.DateTimeField(blank=True, null=True)),
                (
                    "accepted_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "invited_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "organization",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="invitations",
                        to="pool.organization",
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="invitations",
                        to="pool.project",
                    ),
                ),
            ],
            options={
                "ordering": ["-pk"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("organization__isnull", False),
                                ("project", None),
                                ("role__in", ("org_admin", "billing_reader")),
                            ),
                            models.Q(
                                ("organization", None),
                                ("project__isnull", False),
                                ("role__in", ("lead", "member", "viewer")),
                            ),
                            _connector="OR",
                        ),
                        name="invitation_role_has_its_place",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("accepted_at", None), ("revoked_at", None), _connector="OR"
                        ),
                        name="invitation_ends_one_way",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("accepted_at", None), ("accepted_by", None)),
                            models.Q(
                                ("accepted_at__isnull", False), ("accepted_by__isnull", False)
                            ),
                            _connector="OR",
                        ),
                        name="invitation_accepted_by_somebody",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="GroupRole",
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
                        editable=False, max_length=48, prefix="gr", unique=True
                    ),
                ),
                (
                    "source",
                    models.CharField(choices=[("ldap", "ldap"), ("oidc", "oidc")], max_length=8),
                ),
                ("group", models.CharField(max_length=255)),
                ("role", models.CharField(max_length=20)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "organization",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="group_roles",
                        to="pool.organization",
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="group_roles",
                        to="pool.project",
                    ),
                ),
            ],
            options={
                "ordering": ["pk"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("source__in", ("ldap", "oidc"))),
                        name="group_role_source_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("group", ""), _negated=True),
                        name="group_role_has_group",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("organization", None),
                                ("project", None),
                                ("role", "platform_admin"),
                            ),
                            models.Q(
                                ("organization__isnull", False),
                                ("project", None),
                                ("role__in", ("org_admin", "billing_reader")),
                            ),
                            models.Q(
                                ("organization", None),
                                ("project__isnull", False),
                                ("role__in", ("lead", "member", "viewer")),
                            ),
                            _connector="OR",
                        ),
                        name="group_role_has_its_place",
                    ),
                    models.UniqueConstraint(
                        fields=("source", "group", "role", "organization", "project"),
                        name="group_role_once",
                        nulls_distinct=False,
                    ),
                ],
            },
        ),
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
        migrations.CreateModel(
            name="AlertSilence",
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
                        editable=False, max_length=48, prefix="as", unique=True
                    ),
                ),
                ("subject", models.CharField(blank=True, max_length=80)),
                ("family", models.CharField(blank=True, max_length=12)),
                ("severity", models.CharField(blank=True, max_length=12)),
                ("starts_at", models.DateTimeField(auto_now_add=True)),
                ("ends_at", models.DateTimeField()),
                ("ended_at", models.DateTimeField(blank=True, null=True)),
                ("reason", models.CharField(max_length=400)),
                ("by_label", models.CharField(max_length=160)),
                (
                    "rule",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        to="pool.alertrule",
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        to="pool.project",
                    ),
                ),
            ],
            options={
                "ordering": ["-pk"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("reason", ""), _negated=True),
                        name="alert_silence_says_why",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("rule__isnull", False),
                            ("project__isnull", False),
                            models.Q(
                                ("family", ""), ("severity", ""), ("subject", ""), _negated=True
                            ),
                            _connector="OR",
                        ),
                        name="alert_silence_means_something",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="AlertRoute",
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
                        editable=False, max_length=48, prefix="at", unique=True
                    ),
                ),
                ("family", models.CharField(blank=True, max_length=12)),
                ("severity", models.CharField(blank=True, max_length=12)),
                (
                    "days",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.PositiveSmallIntegerField(), default=list, size=None
                    ),
                ),
                ("start_minute", models.PositiveSmallIntegerField(default=0)),
                ("end_minute", models.PositiveSmallIntegerField(default=1440)),
                ("zone", models.CharField(default="UTC", max_length=64)),
                (
                    "closed_dates",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.DateField(), blank=True, default=list, size=None
                    ),
                ),
                ("enabled", models.BooleanField(default=True)),
                (
                    "channel",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="routes",
                        to="pool.alertchannel",
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        to="pool.project",
                    ),
                ),
            ],
            options={
                "ordering": ["pk"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "family__in",
                                [
                                    "",
                                    pool.rules.alerting.terms.Family["HARDWARE"],
                                    pool.rules.alerting.terms.Family["PERFORMANCE"],
                                    pool.rules.alerting.terms.Family["WORKLOAD"],
                                ],
                            ),
                            (
                                "severity__in",
                                [
                                    "",
                                    pool.rules.alerting.terms.Severity["CRITICAL"],
                                    pool.rules.alerting.terms.Severity["INFO"],
                                    pool.rules.alerting.terms.Severity["WARNING"],
                                ],
                            ),
                        ),
                        name="alert_route_words_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("end_minute__lte", 1440), ("start_minute__lt", models.F("end_minute"))
                        ),
                        name="alert_route_opens",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Alert",
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
                        editable=False, max_length=48, prefix="al", unique=True
                    ),
                ),
                ("key", models.CharField(max_length=200)),
                ("family", models.CharField(default="hardware", max_length=12)),
                ("severity", models.CharField(default="warning", max_length=12)),
                ("subject", models.CharField(db_index=True, max_length=80)),
                ("title", models.CharField(max_length=200)),
                ("detail", models.JSONField(default=dict)),
                (
                    "state",
                    models.CharField(
                        default=pool.lifecycle.alerts.AlertState["PENDING"], max_length=14
                    ),
                ),
                ("state_since", models.DateTimeField(auto_now_add=True)),
                ("first_seen_at", models.DateTimeField(auto_now_add=True)),
                ("value", models.FloatField(blank=True, null=True)),
                ("threshold", models.FloatField(blank=True, null=True)),
                ("fired_at", models.DateTimeField(blank=True, null=True)),
                ("last_seen_at", models.DateTimeField(blank=True, null=True)),
                ("clear_since", models.DateTimeField(blank=True, null=True)),
                ("flaps", models.PositiveSmallIntegerField(default=0)),
                ("told_at", models.DateTimeField(blank=True, null=True)),
                ("over_told_at", models.DateTimeField(blank=True, null=True)),
                ("taken_by", models.CharField(blank=True, max_length=160)),
                ("note", models.CharField(blank=True, max_length=400)),
                (
                    "rule",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="alerts",
                        to="pool.alertrule",
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        to="pool.project",
                    ),
                ),
            ],
            options={
                "ordering": ["-pk"],
                "indexes": [
                    models.Index(
                        condition=models.Q(
                            ("told_at", None), ("over_told_at", None), _connector="OR"
                        ),
                        fields=["state"],
                        name="alert_to_tell",
                    ),
                    models.Index(fields=["key", "-fired_at"], name="alert_by_key"),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "state__in",
                                [
                                    pool.lifecycle.alerts.AlertState["ACKNOWLEDGED"],
                                    pool.lifecycle.alerts.AlertState["FIRING"],
                                    pool.lifecycle.alerts.AlertState["PENDING"],
                                    pool.lifecycle.alerts.AlertState["RESOLVED"],
                                ],
                            )
                        ),
                        name="alert_state_known",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("state", "resolved"), _negated=True),
                        fields=("key",),
                        name="alert_one_open_per_key",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Quota",
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
                        editable=False, max_length=48, prefix="qt", unique=True
                    ),
                ),
                ("card_model", models.CharField(blank=True, default="", max_length=80)),
                ("unit", models.CharField(max_length=16)),
                ("kind", models.CharField(max_length=12)),
                ("limit_value", models.BigIntegerField()),
                ("held", models.BigIntegerField(default=0)),
                ("ceiling", models.BigIntegerField()),
                ("granted", models.BigIntegerField(default=0)),
                ("lend_limit", models.BigIntegerField(blank=True, null=True)),
                ("changed_at", models.DateTimeField(auto_now=True)),
                (
                    "organization",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="quotas",
                        to="pool.organization",
                    ),
                ),
                (
                    "partition",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="quotas",
                        to="pool.partition",
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="quotas",
                        to="pool.project",
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="quotas",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["pk"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("held__gte", 0), ("held__lte", models.F("ceiling"))),
                        name="quota_held_within_ceiling",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("ceiling__gte", models.F("limit_value"))),
                        name="quota_ceiling_covers_limit",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("limit_value__gte", 0)), name="quota_limit_not_negative"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("granted__gte", 0), ("granted__lte", models.F("limit_value"))
                        ),
                        name="quota_grants_within_limit",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("lend_limit", None),
                            models.Q(("kind", "entitlement"), ("lend_limit__gte", 0)),
                            _connector="OR",
                        ),
                        name="quota_lends_what_is_guaranteed",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "unit__in",
                                [
                                    pool.lifecycle.roles.QuotaUnit["CARD_SECONDS"],
                                    pool.lifecycle.roles.QuotaUnit["CARDS_EACH"],
                                    pool.lifecycle.roles.QuotaUnit["CARDS_MICRO"],
                                    pool.lifecycle.roles.QuotaUnit["COMPUTE_MILLI"],
                                    pool.lifecycle.roles.QuotaUnit["CPU_MILLI"],
                                    pool.lifecycle.roles.QuotaUnit["DISK_MIB"],
                                    pool.lifecycle.roles.QuotaUnit["MEMORY_MIB"],
                                    pool.lifecycle.roles.QuotaUnit["RAM_MIB"],
                                    pool.lifecycle.roles.QuotaUnit["WORKLOADS"],
                                ],
                            )
                        ),
                        name="quota_unit_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "kind__in",
                                [
                                    pool.lifecycle.roles.QuotaKind["ALLOWANCE"],
                                    pool.lifecycle.roles.QuotaKind["ENTITLEMENT"],
                                    pool.lifecycle.roles.QuotaKind["LIMIT"],
                                ],
                            )
                        ),
                        name="quota_kind_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("organization__isnull", False), ("project", None), ("user", None)
                            ),
                            models.Q(("organization", None), ("project__isnull", False)),
                            _connector="OR",
                        ),
                        name="quota_has_one_tenant",
                    ),
                    models.UniqueConstraint(
                        fields=(
                            "organization",
                            "project",
                            "user",
                            "partition",
                            "card_model",
                            "unit",
                            "kind",
                        ),
                        name="quota_once",
                        nulls_distinct=False,
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="QuotaDrift",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("held", models.BigIntegerField()),
                ("counted", models.BigIntegerField()),
                ("seen_at", models.DateTimeField()),
                ("repaired_at", models.DateTimeField(blank=True, null=True)),
                ("repaired_by", models.CharField(blank=True, max_length=160)),
                ("passed_at", models.DateTimeField(blank=True, null=True)),
                (
                    "quota",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="drifts",
                        to="pool.quota",
                    ),
                ),
            ],
            options={
                "ordering": ["-pk"],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("passed_at", None), ("repaired_at", None)),
                        fields=("quota",),
                        name="quota_drift_one_open",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="QuotaPeriod",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("since", models.DateTimeField()),
                ("used", models.BigIntegerField(default=0)),
                ("promised", models.BigIntegerField(default=0)),
                ("counted_at", models.DateTimeField()),
                ("counted_to", models.BigIntegerField(default=0)),
                (
                    "quota",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="period",
                        to="pool.quota",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("promised__gte", 0), ("used__gte", 0)),
                        name="quota_period_not_negative",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Rank",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("rank", models.PositiveSmallIntegerField()),
                ("cards", models.PositiveSmallIntegerField(default=0)),
                ("accepted_at", models.DateTimeField(blank=True, null=True)),
                ("started_at", models.DateTimeField(blank=True, null=True)),
                ("ended_at", models.DateTimeField(blank=True, null=True)),
                ("exit_code", models.IntegerField(blank=True, null=True)),
                ("exit_reason", models.CharField(blank=True, max_length=16)),
                ("message", models.CharField(blank=True, max_length=400)),
                ("log_bytes", models.BigIntegerField(default=0)),
                ("peak_memory_mib", models.PositiveIntegerField(blank=True, null=True)),
                ("held_s", models.FloatField(blank=True, null=True)),
                ("clean_at", models.DateTimeField(blank=True, null=True)),
                ("lost_at", models.DateTimeField(blank=True, null=True)),
                (
                    "attempt",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="ranks",
                        to="pool.attempt",
                    ),
                ),
                (
                    "node",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="ranks",
                        to="pool.node",
                    ),
                ),
            ],
            options={
                "ordering": ["attempt", "rank"],
                "indexes": [
                    models.Index(
                        condition=models.Q(("clean_at", None)),
                        fields=["node"],
                        name="rank_not_clean",
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("attempt", "rank"), name="rank_number_once"),
                    models.UniqueConstraint(fields=("attempt", "node"), name="rank_one_per_node"),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "exit_reason__in",
                                [
                                    "",
                                    nodeagent.protocol.vocabulary.ExitReason["CANCELLED"],
                                    nodeagent.protocol.vocabulary.ExitReason["FENCED"],
                                    nodeagent.protocol.vocabulary.ExitReason["FINISHED"],
                                    nodeagent.protocol.vocabulary.ExitReason["IMPOSSIBLE"],
                                    nodeagent.protocol.vocabulary.ExitReason["KILLED"],
                                    nodeagent.protocol.vocabulary.ExitReason["LIMIT"],
                                    nodeagent.protocol.vocabulary.ExitReason["NEIGHBOUR"],
                                    nodeagent.protocol.vocabulary.ExitReason["NODE_LOST"],
                                    nodeagent.protocol.vocabulary.ExitReason["NODE_STOPPED"],
                                    nodeagent.protocol.vocabulary.ExitReason["OOM_CARD"],
                                    nodeagent.protocol.vocabulary.ExitReason["OOM_HOST"],
                                    nodeagent.protocol.vocabulary.ExitReason["OWN_ERROR"],
                                    nodeagent.protocol.vocabulary.ExitReason["PREEMPTED"],
                                    nodeagent.protocol.vocabulary.ExitReason["RANK_DIED"],
                                    nodeagent.protocol.vocabulary.ExitReason["RECLAIMED"],
                                    nodeagent.protocol.vocabulary.ExitReason["START_FAILED"],
                                    nodeagent.protocol.vocabulary.ExitReason["STOPPED"],
                                ],
                            )
                        ),
                        name="rank_exit_reason_known",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Request",
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
                        editable=False, max_length=48, prefix="rq", unique=True
                    ),
                ),
                ("title", models.CharField(blank=True, max_length=120)),
                ("purpose", models.TextField(blank=True, max_length=4000)),
                ("need", models.JSONField(default=dict)),
                ("copies", models.PositiveIntegerField(default=1)),
                (
                    "lease_kind",
                    models.CharField(
                        default=pool.lifecycle.leases.LeaseKind["ON_DEMAND"], max_length=12
                    ),
                ),
                ("duration_seconds", models.PositiveIntegerField()),
                ("starts_at", models.DateTimeField(blank=True, null=True)),
                ("weights", models.JSONField(default=dict)),
                ("entitled", models.JSONField(default=list)),
                (
                    "steps",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=20), default=list, size=None
                    ),
                ),
                ("step", models.PositiveSmallIntegerField(default=0)),
                ("step_since", models.DateTimeField(blank=True, null=True)),
                ("reminded", models.PositiveSmallIntegerField(default=0)),
                ("escalated_at", models.DateTimeField(blank=True, null=True)),
                ("alteration", models.CharField(blank=True, default="", max_length=8)),
                (
                    "state",
                    models.CharField(
                        default=pool.lifecycle.requests.RequestState["DRAFT"], max_length=12
                    ),
                ),
                ("revision", models.PositiveIntegerField(default=1)),
                ("submitted_at", models.DateTimeField(blank=True, null=True)),
                ("promised_at", models.DateTimeField(blank=True, null=True)),
                ("decided_at", models.DateTimeField(blank=True, null=True)),
                ("decision_reason", models.TextField(blank=True, max_length=4000)),
                ("pending_decision", models.JSONField(blank=True, null=True)),
                ("pending_until", models.DateTimeField(blank=True, null=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("example", models.BooleanField(default=False)),
                (
                    "alters",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="changes",
                        to="pool.lease",
                    ),
                ),
                (
                    "decided_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "partitions",
                    models.ManyToManyField(
                        blank=True, related_name="requests", to="pool.partition"
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="requests",
                        to="pool.project",
                    ),
                ),
                (
                    "requester",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="requests",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["-pk"],
                "indexes": [
                    models.Index(fields=["state", "-id"], name="request_by_state"),
                    models.Index(fields=["requester", "submitted_at"], name="request_by_requester"),
                    models.Index(
                        condition=models.Q(("state", "submitted")),
                        fields=["submitted_at", "id"],
                        name="request_waiting",
                    ),
                    models.Index(
                        condition=models.Q(("state", "submitted")),
                        fields=["project", "submitted_at", "id"],
                        name="request_waiting_there",
                    ),
                    models.Index(
                        condition=models.Q(("state", "submitted")),
                        fields=["project", "-id"],
                        name="request_waiting_newest",
                    ),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "state__in",
                                [
                                    pool.lifecycle.requests.RequestState["APPROVED"],
                                    pool.lifecycle.requests.RequestState["DRAFT"],
                                    pool.lifecycle.requests.RequestState["REJECTED"],
                                    pool.lifecycle.requests.RequestState["RETURNED"],
                                    pool.lifecycle.requests.RequestState["SUBMITTED"],
                                    pool.lifecycle.requests.RequestState["WITHDRAWN"],
                                ],
                            )
                        ),
                        name="request_state_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("duration_seconds__gt", 0)), name="request_has_duration"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("copies__gt", 0)), name="request_has_copies"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "lease_kind__in",
                                [
                                    pool.lifecycle.leases.LeaseKind["ON_DEMAND"],
                                    pool.lifecycle.leases.LeaseKind["RESERVED"],
                                ],
                            )
                        ),
                        name="request_lease_kind_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("alteration", ""), ("alters", None)),
                            models.Q(
                                (
                                    "alteration__in",
                                    [
                                        pool.lifecycle.leases.LeaseChange["EXTEND"],
                                        pool.lifecycle.leases.LeaseChange["RESIZE"],
                                    ],
                                ),
                                ("alters__isnull", False),
                            ),
                            _connector="OR",
                        ),
                        name="request_alters_a_lease",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("state__in", ["approved", "rejected"]), _negated=True),
                            models.Q(
                                ("decided_by__isnull", False),
                                models.Q(("decided_by", models.F("requester")), _negated=True),
                            ),
                            _connector="OR",
                        ),
                        name="request_decided_by_another",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="RequestComment",
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
                        editable=False, max_length=48, prefix="rc", unique=True
                    ),
                ),
                ("text", models.TextField(max_length=4000)),
                ("at", models.DateTimeField(auto_now_add=True)),
                (
                    "author",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "request",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="comments",
                        to="pool.request",
                    ),
                ),
            ],
            options={
                "ordering": ["pk"],
            },
        ),
        migrations.CreateModel(
            name="Reservation",
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
                        editable=False, max_length=48, prefix="rv", unique=True
                    ),
                ),
                ("span", django.contrib.postgres.fields.ranges.DateTimeRangeField()),
                (
                    "state",
                    models.CharField(
                        default=pool.lifecycle.reservations.ReservationState["ASKED"], max_length=10
                    ),
                ),
                ("state_since", models.DateTimeField(auto_now_add=True)),
                ("state_reason", models.CharField(blank=True, max_length=200)),
                ("quota_taken", models.JSONField(default=list)),
                ("began_at", models.DateTimeField(blank=True, null=True)),
                ("over_at", models.DateTimeField(blank=True, null=True)),
                ("used_at", models.DateTimeField(blank=True, null=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "lease",
                    models.OneToOneField(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="reservation",
                        to="pool.lease",
                    ),
                ),
                (
                    "partition",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="reservations",
                        to="pool.partition",
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="reservations",
                        to="pool.project",
                    ),
                ),
                (
                    "request",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="reservation",
                        to="pool.request",
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
                                    pool.lifecycle.reservations.ReservationState["ACTIVE"],
                                    pool.lifecycle.reservations.ReservationState["ASKED"],
                                    pool.lifecycle.reservations.ReservationState["CANCELLED"],
                                    pool.lifecycle.reservations.ReservationState["CONFIRMED"],
                                    pool.lifecycle.reservations.ReservationState["ENDED"],
                                ],
                            )
                        ),
                        name="reservation_state_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("span__isempty", False),
                            ("span__lower_inf", False),
                            ("span__upper_inf", False),
                        ),
                        name="reservation_has_an_end",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("state__in", ["confirmed", "active"]), _negated=True),
                            models.Q(("lease__isnull", False), ("partition__isnull", False)),
                            _connector="OR",
                        ),
                        name="reservation_of_a_lease",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="ReservedCard",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("span", django.contrib.postgres.fields.ranges.DateTimeRangeField()),
                ("live", models.BooleanField(default=True)),
                (
                    "card",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="reserved",
                        to="pool.card",
                    ),
                ),
                (
                    "reservation",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="kept",
                        to="pool.reservation",
                    ),
                ),
            ],
            options={
                "ordering": ["pk"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("reservation", "card"), name="reserved_card_once"
                    ),
                    django.contrib.postgres.constraints.ExclusionConstraint(
                        condition=models.Q(("live", True)),
                        expressions=[("card", "="), ("span", "&&")],
                        name="reserved_card_one_at_a_time",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="RollupDue",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("step", models.PositiveSmallIntegerField()),
                ("at", models.DateTimeField()),
                ("touched_at", models.DateTimeField()),
                ("rolled_at", models.DateTimeField(blank=True, null=True)),
            ],
            options={
                "indexes": [models.Index(fields=["touched_at"], name="rollup_due_touched")],
                "constraints": [
                    models.UniqueConstraint(fields=("step", "at"), name="rollup_due_once")
                ],
            },
        ),
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
                "indexes": [models.Index(fields=["at"], name="round_by_time")],
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
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("id", 1)), name="round_total_one_row"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Seats",
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
                        editable=False, max_length=48, prefix="st", unique=True
                    ),
                ),
                ("name", models.CharField(max_length=120)),
                ("mode", models.CharField(max_length=16)),
                ("total", models.PositiveIntegerField()),
                ("changed_at", models.DateTimeField(auto_now=True)),
                (
                    "organization",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="seats",
                        to="pool.organization",
                    ),
                ),
                (
                    "partition",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="seats",
                        to="pool.partition",
                    ),
                ),
            ],
            options={
                "ordering": ["mode", "pk"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "mode__in",
                                [
                                    nodeagent.protocol.vocabulary.Mode["AMD_PARTITION"],
                                    nodeagent.protocol.vocabulary.Mode["MIG"],
                                    nodeagent.protocol.vocabulary.Mode["MPS"],
                                    nodeagent.protocol.vocabulary.Mode["TIMESLICE"],
                                    nodeagent.protocol.vocabulary.Mode["VGPU"],
                                    nodeagent.protocol.vocabulary.Mode["VNPU"],
                                    nodeagent.protocol.vocabulary.Mode["WHOLE"],
                                ],
                            )
                        ),
                        name="seats_mode_known",
                    ),
                    models.UniqueConstraint(
                        fields=("mode", "organization", "partition"),
                        name="seats_once",
                        nulls_distinct=False,
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Secret",
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
                        editable=False, max_length=48, prefix="sc", unique=True
                    ),
                ),
                ("name", models.CharField(max_length=63)),
                ("sealed", models.TextField(blank=True)),
                ("version", models.PositiveIntegerField(default=1)),
                ("note", models.CharField(blank=True, max_length=200)),
                ("set_by", models.CharField(blank=True, max_length=160)),
                ("set_at", models.DateTimeField()),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("removed_at", models.DateTimeField(blank=True, null=True)),
                (
                    "project",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="secrets",
                        to="pool.project",
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="secrets",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["name", "pk"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("project__isnull", False), ("user", None)),
                            models.Q(("project", None), ("user__isnull", False)),
                            _connector="OR",
                        ),
                        name="secret_of_one",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("removed_at", None), models.Q(("sealed", ""), _negated=True)),
                            models.Q(("removed_at__isnull", False), ("sealed", "")),
                            _connector="OR",
                        ),
                        name="secret_removed_is_empty",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("removed_at", None)),
                        fields=("name", "user", "project"),
                        name="secret_name_once",
                        nulls_distinct=False,
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Slice",
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
                        editable=False, max_length=48, prefix="sl", unique=True
                    ),
                ),
                ("mode", models.CharField(max_length=16)),
                ("isolation", models.CharField(max_length=12)),
                ("profile", models.CharField(max_length=40)),
                (
                    "span",
                    django.contrib.postgres.fields.ranges.IntegerRangeField(blank=True, null=True),
                ),
                ("lived", django.contrib.postgres.fields.ranges.DateTimeRangeField()),
                ("memory_mib", models.PositiveIntegerField()),
                ("compute_milli", models.PositiveIntegerField()),
                ("equivalents_micro", models.PositiveIntegerField()),
                (
                    "state",
                    models.CharField(
                        default=pool.lifecycle.slices.SliceState["PLANNED"], max_length=12
                    ),
                ),
                ("state_since", models.DateTimeField(auto_now_add=True)),
                ("state_reason", models.CharField(blank=True, max_length=200)),
                ("deadline", models.DateTimeField(blank=True, null=True)),
                ("device", models.CharField(blank=True, max_length=120)),
                ("adopted", models.BooleanField(default=False)),
                ("wished_in", models.BigIntegerField(default=0)),
                (
                    "card",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="slices",
                        to="pool.card",
                    ),
                ),
            ],
            options={
                "ordering": ["card", "pk"],
                "indexes": [
                    models.Index(
                        condition=models.Q(("lived__upper_inf", True)),
                        fields=["card"],
                        name="slice_living",
                    )
                ],
                "constraints": [
                    django.contrib.postgres.constraints.ExclusionConstraint(
                        expressions=[("card", "="), ("span", "&&"), ("lived", "&&")],
                        name="slice_no_overlap_on_card",
                    ),
                    django.contrib.postgres.constraints.ExclusionConstraint(
                        expressions=[("card", "="), ("mode", "<>"), ("lived", "&&")],
                        name="slice_one_mode_per_card",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("mode__in", ["whole", "mig"]), ("span__isnull", False)),
                            models.Q(
                                ("span", None),
                                models.Q(("mode__in", ["whole", "mig"]), _negated=True),
                            ),
                            _connector="OR",
                        ),
                        name="slice_place_by_mode",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "state__in",
                                [
                                    pool.lifecycle.slices.SliceState["CLEANING"],
                                    pool.lifecycle.slices.SliceState["CREATING"],
                                    pool.lifecycle.slices.SliceState["DELETING"],
                                    pool.lifecycle.slices.SliceState["FAILED"],
                                    pool.lifecycle.slices.SliceState["GONE"],
                                    pool.lifecycle.slices.SliceState["LOST"],
                                    pool.lifecycle.slices.SliceState["PLANNED"],
                                    pool.lifecycle.slices.SliceState["READY"],
                                ],
                            )
                        ),
                        name="slice_state_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "mode__in",
                                [
                                    nodeagent.protocol.vocabulary.Mode["AMD_PARTITION"],
                                    nodeagent.protocol.vocabulary.Mode["MIG"],
                                    nodeagent.protocol.vocabulary.Mode["MPS"],
                                    nodeagent.protocol.vocabulary.Mode["TIMESLICE"],
                                    nodeagent.protocol.vocabulary.Mode["VGPU"],
                                    nodeagent.protocol.vocabulary.Mode["VNPU"],
                                    nodeagent.protocol.vocabulary.Mode["WHOLE"],
                                ],
                            )
                        ),
                        name="slice_mode_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "isolation__in",
                                [
                                    nodeagent.protocol.vocabulary.Isolation["HARDWARE"],
                                    nodeagent.protocol.vocabulary.Isolation["NONE"],
                                    nodeagent.protocol.vocabulary.Isolation["PROCESS"],
                                    nodeagent.protocol.vocabulary.Isolation["SOFTWARE"],
                                    nodeagent.protocol.vocabulary.Isolation["UNKNOWN"],
                                ],
                            )
                        ),
                        name="slice_isolation_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("lived__upper_inf", False), ("state", "gone")),
                            models.Q(
                                models.Q(("state", "gone"), _negated=True),
                                ("lived__upper_inf", True),
                            ),
                            _connector="OR",
                        ),
                        name="slice_life_ends_when_gone",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("compute_milli__lte", 1000),
                            ("equivalents_micro__lte", 1000000),
                            ("memory_mib__gt", 0),
                        ),
                        name="slice_within_a_card",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Hold",
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
                        editable=False, max_length=48, prefix="hd", unique=True
                    ),
                ),
                ("mode", models.CharField(max_length=16)),
                ("isolation", models.CharField(max_length=12)),
                ("trust", models.BigIntegerField()),
                ("fenced", models.BooleanField()),
                ("held", django.contrib.postgres.fields.ranges.DateTimeRangeField()),
                ("equivalents_micro", models.PositiveIntegerField(default=0)),
                ("memory_mib", models.PositiveIntegerField(default=0)),
                ("compute_milli", models.PositiveIntegerField(default=0)),
                ("cpu_milli", models.PositiveIntegerField(default=0)),
                ("ram_mib", models.PositiveIntegerField(default=0)),
                ("disk_mib", models.PositiveIntegerField(default=0)),
                ("agent_held_s", models.FloatField(blank=True, null=True)),
                ("corrected_s", models.FloatField(blank=True, null=True)),
                (
                    "card",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="holds",
                        to="pool.card",
                    ),
                ),
                (
                    "node",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="holds",
                        to="pool.node",
                    ),
                ),
                (
                    "placement",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="holds",
                        to="pool.placement",
                    ),
                ),
                (
                    "slice",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="holds",
                        to="pool.slice",
                    ),
                ),
            ],
            options={
                "ordering": ["pk"],
                "indexes": [
                    models.Index(
                        condition=models.Q(("held__upper_inf", True)),
                        fields=["placement"],
                        name="hold_open",
                    )
                ],
                "constraints": [
                    django.contrib.postgres.constraints.ExclusionConstraint(
                        expressions=[("slice", "="), ("held", "&&")],
                        name="hold_one_holder_per_slice",
                    ),
                    django.contrib.postgres.constraints.ExclusionConstraint(
                        condition=models.Q(("isolation__in", ["process", "none", "unknown"])),
                        expressions=[("card", "="), ("trust", "<>"), ("held", "&&")],
                        name="hold_one_trust_per_unisolated_card",
                    ),
                    django.contrib.postgres.constraints.ExclusionConstraint(
                        condition=models.Q(("fenced", False)),
                        expressions=[("node", "="), ("trust", "<>"), ("held", "&&")],
                        name="hold_one_trust_per_unfenced_node",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("card__isnull", False), ("slice__isnull", False)),
                            models.Q(("card", None), ("mode", "host"), ("slice", None)),
                            _connector="OR",
                        ),
                        name="hold_slice_or_host_share",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("held__isempty", False)), name="hold_span_not_empty"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Storage",
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
                        editable=False, max_length=48, prefix="st", unique=True
                    ),
                ),
                ("name", models.CharField(max_length=63)),
                ("name_folded", models.CharField(editable=False, max_length=80)),
                ("kind", models.CharField(max_length=12)),
                (
                    "backing",
                    models.CharField(
                        default=pool.lifecycle.catalogue.Backing["HOST"], max_length=8
                    ),
                ),
                ("path", models.CharField(max_length=400)),
                ("source", models.CharField(blank=True, max_length=200)),
                (
                    "named_for",
                    models.CharField(blank=True, default="", editable=False, max_length=150),
                ),
                (
                    "mode",
                    models.CharField(default=pool.lifecycle.catalogue.Access["READ"], max_length=2),
                ),
                ("create", models.BooleanField(default=False)),
                ("note", models.CharField(blank=True, max_length=200)),
                ("active", models.BooleanField(default=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "organization",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="storage",
                        to="pool.organization",
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="storage",
                        to="pool.project",
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="storage",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["name_folded", "pk"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "kind__in",
                                [
                                    pool.lifecycle.catalogue.StorageKind["CHECKPOINTS"],
                                    pool.lifecycle.catalogue.StorageKind["DATASET"],
                                    pool.lifecycle.catalogue.StorageKind["HOME"],
                                    pool.lifecycle.catalogue.StorageKind["PROJECT"],
                                    pool.lifecycle.catalogue.StorageKind["SCRATCH"],
                                ],
                            )
                        ),
                        name="storage_kind_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "backing__in",
                                [
                                    pool.lifecycle.catalogue.Backing["HOST"],
                                    pool.lifecycle.catalogue.Backing["LUSTRE"],
                                    pool.lifecycle.catalogue.Backing["NFS"],
                                    pool.lifecycle.catalogue.Backing["S3"],
                                ],
                            )
                        ),
                        name="storage_backing_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "mode__in",
                                [
                                    pool.lifecycle.catalogue.Access["READ"],
                                    pool.lifecycle.catalogue.Access["WRITE"],
                                ],
                            )
                        ),
                        name="storage_mode_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("path__startswith", "/")), name="storage_path_whole"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("organization", None), ("project", None)),
                            models.Q(("organization", None), ("user", None)),
                            models.Q(("project", None), ("user", None)),
                            _connector="OR",
                        ),
                        name="storage_of_one",
                    ),
                    models.UniqueConstraint(
                        fields=("name_folded", "organization", "project", "user"),
                        name="storage_name_once",
                        nulls_distinct=False,
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Template",
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
                        editable=False, max_length=48, prefix="tp", unique=True
                    ),
                ),
                ("slug", models.SlugField(max_length=63, unique=True)),
                ("name", models.CharField(max_length=120)),
                ("name_zh", models.CharField(blank=True, max_length=120)),
                ("description", models.TextField(blank=True)),
                ("description_zh", models.TextField(blank=True)),
                ("active", models.BooleanField(default=True)),
                ("inactive_reason", models.CharField(blank=True, max_length=200)),
                ("rank", models.PositiveSmallIntegerField(default=100)),
                ("example", models.BooleanField(default=False)),
                (
                    "organization",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="templates",
                        to="pool.organization",
                    ),
                ),
                (
                    "projects",
                    models.ManyToManyField(blank=True, related_name="templates", to="pool.project"),
                ),
            ],
            options={
                "ordering": ["rank", "slug"],
            },
        ),
        migrations.CreateModel(
            name="IdleRule",
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
                        editable=False, max_length=48, prefix="ir", unique=True
                    ),
                ),
                (
                    "idle_seconds",
                    models.PositiveIntegerField(
                        validators=[django.core.validators.MinValueValidator(300)]
                    ),
                ),
                (
                    "warn_minutes",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.PositiveSmallIntegerField(), default=list, size=None
                    ),
                ),
                ("keeps", models.PositiveSmallIntegerField(default=3)),
                (
                    "action",
                    models.CharField(
                        default=pool.lifecycle.idleness.IdleAction["RECLAIM"], max_length=8
                    ),
                ),
                ("busy_counts", models.BooleanField(default=True)),
                ("cpu_counts", models.BooleanField(default=True)),
                ("quiet_from", models.PositiveSmallIntegerField(blank=True, null=True)),
                ("quiet_until", models.PositiveSmallIntegerField(blank=True, null=True)),
                ("changed_at", models.DateTimeField(auto_now=True)),
                (
                    "partition",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="pool.partition",
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="pool.project",
                    ),
                ),
                (
                    "template",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="pool.template",
                    ),
                ),
            ],
            options={
                "ordering": ["pk"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("template", "project", "partition"),
                        name="idle_rule_one_a_scope",
                        nulls_distinct=False,
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "action__in",
                                [
                                    pool.lifecycle.idleness.IdleAction["RECLAIM"],
                                    pool.lifecycle.idleness.IdleAction["WARN"],
                                ],
                            )
                        ),
                        name="idle_rule_action_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("idle_seconds__gte", 300)),
                        name="idle_rule_five_minutes_at_least",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("quiet_from__isnull", True), ("quiet_until__isnull", True)),
                            models.Q(("quiet_from__lt", 1440), ("quiet_until__lt", 1440)),
                            _connector="OR",
                        ),
                        name="idle_rule_quiet_from_and_until",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="TemplateVersion",
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
                        editable=False, max_length=48, prefix="tv", unique=True
                    ),
                ),
                ("number", models.PositiveIntegerField()),
                (
                    "kind",
                    models.CharField(
                        default=nodeagent.protocol.vocabulary.WorkloadKind["JOB"], max_length=12
                    ),
                ),
                (
                    "work_class",
                    models.CharField(
                        default=pool.lifecycle.roles.WorkClass["FINETUNING"], max_length=20
                    ),
                ),
                ("need", models.JSONField(default=dict)),
                (
                    "priority",
                    models.CharField(
                        default=pool.lifecycle.roles.Priority["NORMAL"], max_length=12
                    ),
                ),
                ("preemptible", models.BooleanField(default=False)),
                ("max_seconds", models.PositiveIntegerField(default=604800)),
                ("default_seconds", models.PositiveIntegerField(default=3600)),
                ("start_limit_seconds", models.PositiveIntegerField(default=300)),
                ("grace_seconds", models.PositiveIntegerField(default=30)),
                ("min_run_seconds", models.PositiveIntegerField(default=0)),
                ("idle_seconds", models.PositiveIntegerField(blank=True, null=True)),
                ("checkpoint_seconds", models.PositiveIntegerField(blank=True, null=True)),
                ("bandwidth", models.CharField(default="measured", max_length=8)),
                ("min_profile_compute", models.PositiveSmallIntegerField(default=0)),
                ("unlimited_modes", models.BooleanField(default=False)),
                ("price_class", models.CharField(default="standard", max_length=32)),
                ("approval", models.JSONField(default=dict)),
                ("note", models.CharField(blank=True, max_length=200)),
                ("actor_label", models.CharField(blank=True, max_length=160)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "environment",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="pool.environment",
                    ),
                ),
                (
                    "template",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="versions",
                        to="pool.template",
                    ),
                ),
            ],
            options={
                "ordering": ["template", "-number"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("template", "number"), name="template_version_once"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "work_class__in",
                                [
                                    pool.lifecycle.roles.WorkClass["BATCH_INFERENCE"],
                                    pool.lifecycle.roles.WorkClass["DATA"],
                                    pool.lifecycle.roles.WorkClass["DESKTOP"],
                                    pool.lifecycle.roles.WorkClass["FINETUNING"],
                                    pool.lifecycle.roles.WorkClass["HPC"],
                                    pool.lifecycle.roles.WorkClass["INFERENCE"],
                                    pool.lifecycle.roles.WorkClass["NOTEBOOK"],
                                    pool.lifecycle.roles.WorkClass["PRETRAINING"],
                                    pool.lifecycle.roles.WorkClass["TRAINING"],
                                    pool.lifecycle.roles.WorkClass["TRANSCODING"],
                                ],
                            )
                        ),
                        name="template_version_class_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "priority__in",
                                [
                                    pool.lifecycle.roles.Priority["CRITICAL"],
                                    pool.lifecycle.roles.Priority["HIGH"],
                                    pool.lifecycle.roles.Priority["LOW"],
                                    pool.lifecycle.roles.Priority["NORMAL"],
                                    pool.lifecycle.roles.Priority["SCAVENGER"],
                                ],
                            )
                        ),
                        name="template_version_priority_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "kind__in",
                                [
                                    nodeagent.protocol.vocabulary.WorkloadKind["EXTERNAL"],
                                    nodeagent.protocol.vocabulary.WorkloadKind["JOB"],
                                    nodeagent.protocol.vocabulary.WorkloadKind["NOTEBOOK"],
                                    nodeagent.protocol.vocabulary.WorkloadKind["REPLICA"],
                                ],
                            )
                        ),
                        name="template_version_kind_known",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Schedule",
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
                        editable=False, max_length=48, prefix="sc", unique=True
                    ),
                ),
                ("name", models.CharField(max_length=63)),
                ("need", models.JSONField(default=dict)),
                (
                    "command",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.TextField(), default=list, size=None
                    ),
                ),
                ("env", models.JSONField(default=dict)),
                ("files", models.JSONField(default=dict)),
                ("image", models.CharField(blank=True, max_length=255)),
                ("given", models.JSONField(default=dict)),
                ("expected_seconds", models.PositiveIntegerField()),
                (
                    "priority",
                    models.CharField(
                        default=pool.lifecycle.roles.Priority["NORMAL"], max_length=12
                    ),
                ),
                (
                    "silence",
                    models.CharField(
                        default=nodeagent.protocol.vocabulary.Silence["KEEP"], max_length=8
                    ),
                ),
                (
                    "on_rank_death",
                    models.CharField(default=pool.lifecycle.roles.RankDeath["FAIL"], max_length=8),
                ),
                ("rendezvous_seconds", models.PositiveIntegerField(default=600)),
                ("runs", models.PositiveSmallIntegerField(default=0)),
                ("comment", models.TextField(blank=True, max_length=4000)),
                ("array_spec", models.TextField(blank=True)),
                ("array_throttle", models.PositiveIntegerField(blank=True, null=True)),
                ("cron", models.CharField(max_length=120)),
                (
                    "overlap",
                    models.CharField(default=pool.rules.schedules.Overlap["SKIP"], max_length=8),
                ),
                (
                    "missed",
                    models.CharField(default=pool.rules.schedules.Missed["SKIP"], max_length=8),
                ),
                (
                    "state",
                    models.CharField(
                        default=pool.lifecycle.schedules.ScheduleState["ACTIVE"], max_length=8
                    ),
                ),
                ("state_since", models.DateTimeField(auto_now_add=True)),
                ("state_reason", models.CharField(blank=True, max_length=200)),
                ("next_at", models.DateTimeField(blank=True, null=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("example", models.BooleanField(default=False)),
                (
                    "owner",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="schedules",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "partitions",
                    models.ManyToManyField(
                        blank=True, related_name="schedules", to="pool.partition"
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="schedules",
                        to="pool.project",
                    ),
                ),
                (
                    "request",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="schedules",
                        to="pool.request",
                    ),
                ),
                (
                    "template_version",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, to="pool.templateversion"
                    ),
                ),
            ],
            options={
                "ordering": ["-pk"],
                "indexes": [
                    models.Index(
                        condition=models.Q(("state", "active")),
                        fields=["next_at"],
                        name="schedule_due",
                    ),
                    models.Index(fields=["project", "-id"], name="schedule_by_project"),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "state__in",
                                [
                                    pool.lifecycle.schedules.ScheduleState["ACTIVE"],
                                    pool.lifecycle.schedules.ScheduleState["ENDED"],
                                    pool.lifecycle.schedules.ScheduleState["PAUSED"],
                                ],
                            )
                        ),
                        name="schedule_state_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "on_rank_death__in",
                                [
                                    pool.lifecycle.roles.RankDeath["FAIL"],
                                    pool.lifecycle.roles.RankDeath["RESTART"],
                                ],
                            )
                        ),
                        name="schedule_rank_death_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "overlap__in",
                                [
                                    pool.rules.schedules.Overlap["QUEUE"],
                                    pool.rules.schedules.Overlap["REPLACE"],
                                    pool.rules.schedules.Overlap["SKIP"],
                                ],
                            )
                        ),
                        name="schedule_overlap_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "missed__in",
                                [
                                    pool.rules.schedules.Missed["ONCE"],
                                    pool.rules.schedules.Missed["SKIP"],
                                ],
                            )
                        ),
                        name="schedule_missed_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("next_at__isnull", False), ("state", "active")),
                            models.Q(
                                models.Q(("state", "active"), _negated=True), ("next_at", None)
                            ),
                            _connector="OR",
                        ),
                        name="schedule_next_while_active",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="LearnedBandwidth",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("heavy", models.BooleanField()),
                ("runs", models.PositiveSmallIntegerField()),
                ("heavy_runs", models.PositiveSmallIntegerField()),
                ("percent", models.FloatField()),
                ("learned_at", models.DateTimeField()),
                (
                    "owner",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "version",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="learned",
                        to="pool.templateversion",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("version", "owner"),
                        name="learned_bandwidth_once",
                        nulls_distinct=False,
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Window",
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
                        editable=False, max_length=48, prefix="mw", unique=True
                    ),
                ),
                ("reason", models.CharField(max_length=200)),
                ("span", django.contrib.postgres.fields.ranges.DateTimeRangeField()),
                (
                    "with_running",
                    models.CharField(
                        default=pool.lifecycle.windows.WithRunning["WAIT"], max_length=8
                    ),
                ),
                ("notice_seconds", models.PositiveIntegerField(default=300)),
                (
                    "state",
                    models.CharField(
                        default=pool.lifecycle.windows.WindowState["PLANNED"], max_length=10
                    ),
                ),
                ("state_since", models.DateTimeField(auto_now_add=True)),
                ("state_reason", models.CharField(blank=True, max_length=200)),
                ("taken", models.JSONField(default=dict)),
                ("extended", models.JSONField(default=dict)),
                ("noticed", models.BooleanField(default=False)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "cards",
                    models.ManyToManyField(blank=True, related_name="windows", to="pool.card"),
                ),
                (
                    "created_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "nodes",
                    models.ManyToManyField(blank=True, related_name="windows", to="pool.node"),
                ),
                (
                    "partitions",
                    models.ManyToManyField(blank=True, related_name="windows", to="pool.partition"),
                ),
            ],
            options={
                "ordering": ["-pk"],
                "indexes": [
                    models.Index(
                        condition=models.Q(("state__in", ["planned", "active"])),
                        fields=["id"],
                        name="window_open",
                    )
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "state__in",
                                [
                                    pool.lifecycle.windows.WindowState["ACTIVE"],
                                    pool.lifecycle.windows.WindowState["CANCELLED"],
                                    pool.lifecycle.windows.WindowState["ENDED"],
                                    pool.lifecycle.windows.WindowState["PLANNED"],
                                ],
                            )
                        ),
                        name="window_state_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "with_running__in",
                                [
                                    pool.lifecycle.windows.WithRunning["PREEMPT"],
                                    pool.lifecycle.windows.WithRunning["STOP"],
                                    pool.lifecycle.windows.WithRunning["WAIT"],
                                ],
                            )
                        ),
                        name="window_with_running_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("span__isempty", False),
                            ("span__lower_inf", False),
                            ("span__upper_inf", False),
                        ),
                        name="window_has_an_end",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("reason", ""), _negated=True),
                        name="window_has_a_reason",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Workload",
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
                        editable=False, max_length=48, prefix="wl", unique=True
                    ),
                ),
                ("name", models.CharField(max_length=63)),
                ("name_folded", models.CharField(editable=False, max_length=80)),
                ("comment", models.TextField(blank=True, max_length=4000)),
                (
                    "kind",
                    models.CharField(
                        default=nodeagent.protocol.vocabulary.WorkloadKind["JOB"], max_length=12
                    ),
                ),
                ("entitlement", models.CharField(default="allowance", max_length=12)),
                ("array_index", models.PositiveIntegerField(blank=True, null=True)),
                ("array_size", models.PositiveIntegerField(blank=True, null=True)),
                ("array_spec", models.TextField(blank=True)),
                ("array_throttle", models.PositiveIntegerField(blank=True, null=True)),
                ("need", models.JSONField(default=dict)),
                ("asked_micro", models.PositiveBigIntegerField(default=0)),
                (
                    "command",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.TextField(), default=list, size=None
                    ),
                ),
                ("env", models.JSONField(default=dict)),
                ("files", models.JSONField(default=dict)),
                ("runner", models.CharField(default="process", max_length=16)),
                ("image", models.CharField(blank=True, max_length=400)),
                ("cpu_milli", models.PositiveIntegerField(default=0)),
                ("ram_mib", models.PositiveIntegerField(default=0)),
                ("disk_mib", models.PositiveIntegerField(default=0)),
                ("expected_seconds", models.PositiveIntegerField()),
                (
                    "priority",
                    models.CharField(
                        default=pool.lifecycle.roles.Priority["NORMAL"], max_length=12
                    ),
                ),
                ("preemptible", models.BooleanField(default=False)),
                (
                    "silence",
                    models.CharField(
                        default=nodeagent.protocol.vocabulary.Silence["KEEP"], max_length=8
                    ),
                ),
                ("home", models.CharField(blank=True, default="", max_length=120)),
                (
                    "on_rank_death",
                    models.CharField(default=pool.lifecycle.roles.RankDeath["FAIL"], max_length=8),
                ),
                ("rendezvous_seconds", models.PositiveIntegerField(default=600)),
                ("grace_seconds", models.PositiveIntegerField(default=30)),
                ("runs_asked", models.PositiveSmallIntegerField(default=0)),
                ("runs_left", models.PositiveSmallIntegerField(default=0)),
                ("starts_left", models.PositiveSmallIntegerField(default=3)),
                ("failures", models.PositiveSmallIntegerField(default=0)),
                ("not_before", models.DateTimeField(blank=True, null=True)),
                (
                    "state",
                    models.CharField(
                        default=pool.lifecycle.workloads.WorkloadState["QUEUED"], max_length=20
                    ),
                ),
                ("state_since", models.DateTimeField(auto_now_add=True)),
                ("state_before", models.CharField(blank=True, max_length=20)),
                ("deadline", models.DateTimeField(blank=True, null=True)),
                ("stop_reason", models.CharField(blank=True, max_length=16)),
                ("waits", models.JSONField(blank=True, null=True)),
                (
                    "waits_for",
                    models.GeneratedField(
                        db_persist=True,
                        expression=django.db.models.functions.comparison.Coalesce(
                            django.db.models.fields.json.KeyTextTransform("reason", "waits"),
                            models.Value(""),
                            output_field=models.TextField(),
                        ),
                        output_field=models.TextField(),
                    ),
                ),
                (
                    "place",
                    models.GeneratedField(
                        db_persist=True,
                        expression=models.Case(
                            models.When(then=models.Value(0), waits__reason="carving"),
                            models.When(then=models.Value(1073741825), waits__reason="array"),
                            default=django.db.models.functions.comparison.Coalesce(
                                django.db.models.functions.comparison.Cast(
                                    django.db.models.fields.json.KeyTextTransform(
                                        "position", "waits"
                                    ),
                                    models.IntegerField(),
                                ),
                                models.Value(1073741824),
                            ),
                        ),
                        output_field=models.IntegerField(),
                    ),
                ),
                ("attempts_made", models.PositiveIntegerField(default=0)),
                ("exit_code", models.IntegerField(blank=True, null=True)),
                ("exit_reason", models.CharField(blank=True, max_length=16)),
                ("message", models.CharField(blank=True, max_length=400)),
                ("hold_reason", models.CharField(blank=True, max_length=200)),
                ("hold_by", models.CharField(blank=True, max_length=160)),
                ("hold_strict", models.BooleanField(default=False)),
                ("submitted_at", models.DateTimeField(auto_now_add=True)),
                ("queued_at", models.DateTimeField(blank=True, null=True)),
                ("started_at", models.DateTimeField(blank=True, null=True)),
                ("ended_at", models.DateTimeField(blank=True, null=True)),
                ("example", models.BooleanField(default=False)),
                (
                    "environment",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="workloads",
                        to="pool.environment",
                    ),
                ),
                (
                    "lease",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="workloads",
                        to="pool.lease",
                    ),
                ),
                (
                    "owner",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="workloads",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "parent",
                    models.ForeignKey(
                        blank=True,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="children",
                        to="pool.workload",
                    ),
                ),
                (
                    "partitions",
                    models.ManyToManyField(
                        blank=True, related_name="workloads", to="pool.partition"
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="workloads",
                        to="pool.project",
                    ),
                ),
                (
                    "request",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="workloads",
                        to="pool.request",
                    ),
                ),
                (
                    "template_version",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, to="pool.templateversion"
                    ),
                ),
            ],
            options={
                "ordering": ["-pk"],
                "indexes": [
                    models.Index(fields=["state", "id"], name="workload_by_state"),
                    models.Index(
                        condition=models.Q(("state", "queued")),
                        fields=["place", "id"],
                        name="workload_queue",
                    ),
                    models.Index(
                        condition=models.Q(("state", "queued")),
                        fields=["project", "place", "id"],
                        name="workload_queue_of_project",
                    ),
                    models.Index(
                        condition=models.Q(("state", "queued")),
                        fields=["waits_for", "project"],
                        name="workload_queue_reasons",
                    ),
                    models.Index(
                        condition=models.Q(("parent__isnull", False)),
                        fields=["parent", "state", "array_index"],
                        name="workload_pieces",
                    ),
                    models.Index(
                        condition=models.Q(("parent__isnull", False), ("state", "queued")),
                        fields=["parent", "waits_for"],
                        include=("id",),
                        name="workload_pieces_told",
                    ),
                    models.Index(
                        condition=models.Q(
                            ("not_before__isnull", False),
                            ("parent__isnull", False),
                            ("state", "queued"),
                        ),
                        fields=["parent"],
                        name="workload_pieces_later",
                    ),
                    models.Index(
                        condition=models.Q(("parent__isnull", True), ("state", "queued")),
                        fields=["id"],
                        name="workload_queue_tops",
                    ),
                    models.Index(fields=["project", "-id"], name="workload_by_project"),
                    models.Index(
                        condition=models.Q(("parent__isnull", True)),
                        fields=["project", "-id"],
                        name="workload_tops",
                    ),
                    models.Index(fields=["owner", "-id"], name="workload_by_owner"),
                    models.Index(
                        condition=models.Q(("started_at__isnull", False)),
                        fields=["started_at"],
                        name="workload_by_start",
                    ),
                    django.contrib.postgres.indexes.GinIndex(
                        fields=["name_folded"],
                        name="workload_name_search",
                        opclasses=["gin_trgm_ops"],
                    ),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "state__in",
                                [
                                    pool.lifecycle.workloads.WorkloadState["ACTIVE"],
                                    pool.lifecycle.workloads.WorkloadState["AWAITING_APPROVAL"],
                                    pool.lifecycle.workloads.WorkloadState["CANCELLED"],
                                    pool.lifecycle.workloads.WorkloadState["DEPENDENCY_FAILED"],
                                    pool.lifecycle.workloads.WorkloadState["EXPIRED"],
                                    pool.lifecycle.workloads.WorkloadState["FAILED"],
                                    pool.lifecycle.workloads.WorkloadState["ON_HOLD"],
                                    pool.lifecycle.workloads.WorkloadState["PLACED"],
                                    pool.lifecycle.workloads.WorkloadState["PREEMPTING"],
                                    pool.lifecycle.workloads.WorkloadState["QUEUED"],
                                    pool.lifecycle.workloads.WorkloadState["RECLAIMED"],
                                    pool.lifecycle.workloads.WorkloadState["RUNNING"],
                                    pool.lifecycle.workloads.WorkloadState["STARTING"],
                                    pool.lifecycle.workloads.WorkloadState["STOPPED"],
                                    pool.lifecycle.workloads.WorkloadState["STOPPING"],
                                    pool.lifecycle.workloads.WorkloadState["SUCCEEDED"],
                                    pool.lifecycle.workloads.WorkloadState["UNREACHABLE"],
                                ],
                            )
                        ),
                        name="workload_state_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "kind__in",
                                [
                                    nodeagent.protocol.vocabulary.WorkloadKind["EXTERNAL"],
                                    nodeagent.protocol.vocabulary.WorkloadKind["JOB"],
                                    nodeagent.protocol.vocabulary.WorkloadKind["NOTEBOOK"],
                                    nodeagent.protocol.vocabulary.WorkloadKind["REPLICA"],
                                ],
                            )
                        ),
                        name="workload_kind_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "priority__in",
                                [
                                    pool.lifecycle.roles.Priority["CRITICAL"],
                                    pool.lifecycle.roles.Priority["HIGH"],
                                    pool.lifecycle.roles.Priority["LOW"],
                                    pool.lifecycle.roles.Priority["NORMAL"],
                                    pool.lifecycle.roles.Priority["SCAVENGER"],
                                ],
                            )
                        ),
                        name="workload_priority_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "silence__in",
                                [
                                    nodeagent.protocol.vocabulary.Silence["KEEP"],
                                    nodeagent.protocol.vocabulary.Silence["REQUEUE"],
                                ],
                            )
                        ),
                        name="workload_silence_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "on_rank_death__in",
                                [
                                    pool.lifecycle.roles.RankDeath["FAIL"],
                                    pool.lifecycle.roles.RankDeath["RESTART"],
                                ],
                            )
                        ),
                        name="workload_rank_death_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "exit_reason__in",
                                [
                                    "",
                                    nodeagent.protocol.vocabulary.ExitReason["CANCELLED"],
                                    nodeagent.protocol.vocabulary.ExitReason["FENCED"],
                                    nodeagent.protocol.vocabulary.ExitReason["FINISHED"],
                                    nodeagent.protocol.vocabulary.ExitReason["IMPOSSIBLE"],
                                    nodeagent.protocol.vocabulary.ExitReason["KILLED"],
                                    nodeagent.protocol.vocabulary.ExitReason["LIMIT"],
                                    nodeagent.protocol.vocabulary.ExitReason["NEIGHBOUR"],
                                    nodeagent.protocol.vocabulary.ExitReason["NODE_LOST"],
                                    nodeagent.protocol.vocabulary.ExitReason["NODE_STOPPED"],
                                    nodeagent.protocol.vocabulary.ExitReason["OOM_CARD"],
                                    nodeagent.protocol.vocabulary.ExitReason["OOM_HOST"],
                                    nodeagent.protocol.vocabulary.ExitReason["OWN_ERROR"],
                                    nodeagent.protocol.vocabulary.ExitReason["PREEMPTED"],
                                    nodeagent.protocol.vocabulary.ExitReason["RANK_DIED"],
                                    nodeagent.protocol.vocabulary.ExitReason["RECLAIMED"],
                                    nodeagent.protocol.vocabulary.ExitReason["START_FAILED"],
                                    nodeagent.protocol.vocabulary.ExitReason["STOPPED"],
                                ],
                            )
                        ),
                        name="workload_exit_reason_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "stop_reason__in",
                                [
                                    "",
                                    nodeagent.protocol.vocabulary.ExitReason["CANCELLED"],
                                    nodeagent.protocol.vocabulary.ExitReason["FENCED"],
                                    nodeagent.protocol.vocabulary.ExitReason["FINISHED"],
                                    nodeagent.protocol.vocabulary.ExitReason["IMPOSSIBLE"],
                                    nodeagent.protocol.vocabulary.ExitReason["KILLED"],
                                    nodeagent.protocol.vocabulary.ExitReason["LIMIT"],
                                    nodeagent.protocol.vocabulary.ExitReason["NEIGHBOUR"],
                                    nodeagent.protocol.vocabulary.ExitReason["NODE_LOST"],
                                    nodeagent.protocol.vocabulary.ExitReason["NODE_STOPPED"],
                                    nodeagent.protocol.vocabulary.ExitReason["OOM_CARD"],
                                    nodeagent.protocol.vocabulary.ExitReason["OOM_HOST"],
                                    nodeagent.protocol.vocabulary.ExitReason["OWN_ERROR"],
                                    nodeagent.protocol.vocabulary.ExitReason["PREEMPTED"],
                                    nodeagent.protocol.vocabulary.ExitReason["RANK_DIED"],
                                    nodeagent.protocol.vocabulary.ExitReason["RECLAIMED"],
                                    nodeagent.protocol.vocabulary.ExitReason["START_FAILED"],
                                    nodeagent.protocol.vocabulary.ExitReason["STOPPED"],
                                ],
                            )
                        ),
                        name="workload_stop_reason_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("name", ""), _negated=True), name="workload_has_name"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("entitlement__in", ["allowance", "lease", "pending"])),
                        name="workload_entitlement_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                (
                                    "state__in",
                                    ["placed", "starting", "preempting", "stopping", "unreachable"],
                                ),
                                _negated=True,
                            ),
                            ("deadline__isnull", False),
                            _connector="OR",
                        ),
                        name="workload_passing_state_has_deadline",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("array_size", None), models.Q(("state", "active"), _negated=True)
                            ),
                            models.Q(
                                ("array_size__gte", 1),
                                ("parent", None),
                                (
                                    "state__in",
                                    (
                                        "awaiting_approval",
                                        "active",
                                        "on_hold",
                                        "succeeded",
                                        "failed",
                                        "cancelled",
                                        "stopped",
                                        "dependency_failed",
                                    ),
                                ),
                            ),
                            _connector="OR",
                        ),
                        name="workload_array_never_placed",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("array_index", None), ("parent", None)),
                            models.Q(("array_index__isnull", False), ("parent__isnull", False)),
                            _connector="OR",
                        ),
                        name="workload_piece_has_index",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("array_throttle", None),
                            models.Q(("array_size__gte", 1), ("array_throttle__gte", 1)),
                            _connector="OR",
                        ),
                        name="workload_throttle_of_an_array",
                    ),
                    models.UniqueConstraint(
                        fields=("parent", "array_index"), name="workload_piece_once"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="StorageUse",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("at", models.CharField(max_length=200)),
                ("path", models.CharField(max_length=400)),
                (
                    "mode",
                    models.CharField(default=pool.lifecycle.catalogue.Access["READ"], max_length=2),
                ),
                (
                    "storage",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="uses",
                        to="pool.storage",
                    ),
                ),
                (
                    "workload",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="storage_uses",
                        to="pool.workload",
                    ),
                ),
            ],
            options={
                "ordering": ["pk"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "mode__in",
                                [
                                    pool.lifecycle.catalogue.Access["READ"],
                                    pool.lifecycle.catalogue.Access["WRITE"],
                                ],
                            )
                        ),
                        name="storage_use_mode_known",
                    ),
                    models.UniqueConstraint(fields=("workload", "at"), name="storage_use_at_once"),
                ],
            },
        ),
        migrations.CreateModel(
            name="SecretUse",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "form",
                    models.CharField(
                        default=pool.lifecycle.catalogue.SecretForm["ENV"], max_length=4
                    ),
                ),
                ("name", models.CharField(max_length=63)),
                (
                    "secret",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="uses",
                        to="pool.secret",
                    ),
                ),
                (
                    "workload",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="secret_uses",
                        to="pool.workload",
                    ),
                ),
            ],
            options={
                "ordering": ["pk"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "form__in",
                                [
                                    pool.lifecycle.catalogue.SecretForm["ENV"],
                                    pool.lifecycle.catalogue.SecretForm["FILE"],
                                ],
                            )
                        ),
                        name="secret_use_form_known",
                    ),
                    models.UniqueConstraint(
                        fields=("workload", "form", "name"), name="secret_use_once"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="ScheduleRun",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("due_at", models.DateTimeField()),
                ("handled_at", models.DateTimeField(auto_now_add=True)),
                ("outcome", models.CharField(max_length=8)),
                ("why", models.CharField(blank=True, max_length=400)),
                (
                    "schedule",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="history",
                        to="pool.schedule",
                    ),
                ),
                (
                    "workload",
                    models.OneToOneField(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="schedule_run",
                        to="pool.workload",
                    ),
                ),
            ],
            options={
                "ordering": ["-due_at", "-pk"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("schedule", "due_at"), name="schedule_run_once"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "outcome__in",
                                [
                                    pool.lifecycle.schedules.Outcome["MISSED"],
                                    pool.lifecycle.schedules.Outcome["REFUSED"],
                                    pool.lifecycle.schedules.Outcome["SKIPPED"],
                                    pool.lifecycle.schedules.Outcome["STARTED"],
                                ],
                            )
                        ),
                        name="schedule_run_outcome_known",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Promise",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("until", models.DateTimeField()),
                (
                    "card",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="promises",
                        to="pool.card",
                    ),
                ),
                (
                    "node",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="promises",
                        to="pool.node",
                    ),
                ),
                (
                    "workload",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="promises",
                        to="pool.workload",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("card",), name="promise_one_per_card"),
                    models.UniqueConstraint(fields=("node",), name="promise_one_per_node"),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("card__isnull", False), ("node", None)),
                            models.Q(("card", None), ("node__isnull", False)),
                            _connector="OR",
                        ),
                        name="promise_card_or_node",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Notebook",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("stage", models.CharField(blank=True, max_length=12)),
                ("words", models.CharField(blank=True, max_length=200)),
                ("facts", models.JSONField(blank=True, null=True)),
                ("facts_at", models.DateTimeField(blank=True, null=True)),
                ("ready_at", models.DateTimeField(blank=True, null=True)),
                ("last_input_at", models.DateTimeField(blank=True, null=True)),
                ("verdict", models.CharField(blank=True, max_length=8)),
                ("verdict_at", models.DateTimeField(blank=True, null=True)),
                ("evidence", models.JSONField(blank=True, default=list)),
                ("quiet_s", models.FloatField(default=0)),
                ("limit_s", models.PositiveIntegerField(blank=True, null=True)),
                ("judged_boot", models.CharField(blank=True, max_length=40)),
                ("judged_boottime", models.FloatField(blank=True, null=True)),
                ("judged_shift", models.FloatField(default=0)),
                ("warned", models.PositiveSmallIntegerField(blank=True, null=True)),
                ("keeps_used", models.PositiveSmallIntegerField(default=0)),
                ("kept_until", models.DateTimeField(blank=True, null=True)),
                (
                    "attempt",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="pool.attempt",
                    ),
                ),
                (
                    "workload",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="notebook",
                        to="pool.workload",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "verdict__in",
                                [
                                    "",
                                    pool.lifecycle.idleness.Verdict["ACTIVE"],
                                    pool.lifecycle.idleness.Verdict["HOLDING"],
                                    pool.lifecycle.idleness.Verdict["IDLE"],
                                    pool.lifecycle.idleness.Verdict["UNKNOWN"],
                                ],
                            )
                        ),
                        name="notebook_verdict_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "stage__in",
                                [
                                    "",
                                    nodeagent.protocol.notebooks.Stage["ENVIRONMENT"],
                                    nodeagent.protocol.notebooks.Stage["READY"],
                                    nodeagent.protocol.notebooks.Stage["STARTING"],
                                ],
                            )
                        ),
                        name="notebook_stage_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("quiet_s__gte", 0)), name="notebook_quiet_counts_up"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="NightKeep",
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
                        editable=False, max_length=48, prefix="nk", unique=True
                    ),
                ),
                ("until", models.DateTimeField()),
                ("reason", models.CharField(max_length=200)),
                ("weights", models.JSONField(blank=True, default=dict)),
                ("asked_at", models.DateTimeField(auto_now_add=True)),
                ("answer", models.CharField(blank=True, max_length=9)),
                ("answered_at", models.DateTimeField(blank=True, null=True)),
                ("words", models.CharField(blank=True, max_length=200)),
                (
                    "answered_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "asked_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "workload",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="night_keeps",
                        to="pool.workload",
                    ),
                ),
            ],
            options={
                "ordering": ["-pk"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "answer__in",
                                [
                                    "",
                                    pool.lifecycle.idleness.NightAnswer["GRANTED"],
                                    pool.lifecycle.idleness.NightAnswer["REFUSED"],
                                    pool.lifecycle.idleness.NightAnswer["WITHDRAWN"],
                                ],
                            )
                        ),
                        name="night_keep_answer_known",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("answer", "")),
                        fields=("workload",),
                        name="night_keep_one_open",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="FoundWork",
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
                        editable=False, max_length=48, prefix="fw", unique=True
                    ),
                ),
                ("attempt", models.CharField(max_length=64)),
                ("told_workload", models.CharField(blank=True, max_length=64)),
                ("rank", models.PositiveIntegerField(default=0)),
                ("pid", models.PositiveBigIntegerField(blank=True, null=True)),
                ("origin", models.JSONField(blank=True, null=True)),
                (
                    "cards",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=80), default=list, size=None
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        default=pool.lifecycle.found.FoundState["RUNNING"], max_length=12
                    ),
                ),
                ("state_since", models.DateTimeField(auto_now_add=True)),
                ("state_reason", models.CharField(blank=True, max_length=200)),
                ("started_at", models.DateTimeField(blank=True, null=True)),
                ("found_at", models.DateTimeField(auto_now_add=True)),
                ("exit_code", models.IntegerField(blank=True, null=True)),
                ("exit_reason", models.CharField(blank=True, max_length=16)),
                (
                    "node",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="found_work",
                        to="pool.node",
                    ),
                ),
                (
                    "workload",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="found_as",
                        to="pool.workload",
                    ),
                ),
            ],
            options={
                "ordering": ["-pk"],
                "indexes": [
                    models.Index(
                        condition=models.Q(("state__in", ["running", "stopping"])),
                        fields=["node"],
                        name="foundwork_there",
                    )
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "state__in",
                                [
                                    pool.lifecycle.found.FoundState["ADOPTED"],
                                    pool.lifecycle.found.FoundState["OVER"],
                                    pool.lifecycle.found.FoundState["RUNNING"],
                                    pool.lifecycle.found.FoundState["STOPPING"],
                                ],
                            )
                        ),
                        name="foundwork_state_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("state", "adopted"), ("workload__isnull", False)),
                            models.Q(
                                models.Q(("state", "adopted"), _negated=True), ("workload", None)
                            ),
                            _connector="OR",
                        ),
                        name="foundwork_adopted_as_something",
                    ),
                    models.UniqueConstraint(fields=("node", "attempt"), name="foundwork_once"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Dependency",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "rule",
                    models.CharField(default=pool.rules.dependencies.Rule["SUCCESS"], max_length=8),
                ),
                ("share_milli", models.PositiveIntegerField(blank=True, null=True)),
                ("each", models.BooleanField(default=False)),
                ("met_at", models.DateTimeField(blank=True, null=True)),
                ("broken_at", models.DateTimeField(blank=True, null=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "on",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="before",
                        to="pool.workload",
                    ),
                ),
                (
                    "workload",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="after",
                        to="pool.workload",
                    ),
                ),
            ],
            options={
                "ordering": ["pk"],
                "indexes": [
                    models.Index(
                        condition=models.Q(("broken_at", None), ("met_at", None)),
                        fields=["workload"],
                        name="dependency_open",
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("workload", "on"), name="dependency_once"),
                    models.CheckConstraint(
                        condition=models.Q(("workload", models.F("on")), _negated=True),
                        name="dependency_on_another",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "rule__in",
                                [
                                    pool.rules.dependencies.Rule["END"],
                                    pool.rules.dependencies.Rule["SHARE"],
                                    pool.rules.dependencies.Rule["SUCCESS"],
                                ],
                            )
                        ),
                        name="dependency_rule_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("each", False),
                                ("rule", "share"),
                                ("share_milli__gte", 1),
                                ("share_milli__lte", 1000),
                            ),
                            models.Q(
                                models.Q(("rule", "share"), _negated=True), ("share_milli", None)
                            ),
                            _connector="OR",
                        ),
                        name="dependency_share_of_an_array",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("met_at", None), ("broken_at", None), _connector="OR"),
                        name="dependency_met_or_broken",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="YieldOrder",
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
                        editable=False, max_length=48, prefix="yo", unique=True
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        default=pool.lifecycle.yielding.YieldKind["PREEMPT"], max_length=12
                    ),
                ),
                ("reason", models.CharField(blank=True, max_length=200)),
                ("ordered_by", models.CharField(blank=True, max_length=160)),
                ("ordered_at", models.DateTimeField()),
                ("deadline", models.DateTimeField()),
                ("lost_card_s", models.FloatField(default=0)),
                ("noticed_at", models.DateTimeField(blank=True, null=True)),
                ("ack_at", models.DateTimeField(blank=True, null=True)),
                ("checkpoint_at", models.DateTimeField(blank=True, null=True)),
                ("checkpoint_step", models.BigIntegerField(blank=True, null=True)),
                ("checkpoint_path", models.CharField(blank=True, max_length=400)),
                ("released_at", models.DateTimeField(blank=True, null=True)),
                ("settled_at", models.DateTimeField(blank=True, null=True)),
                ("outcome", models.CharField(blank=True, max_length=8)),
                (
                    "attempt",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="orders",
                        to="pool.attempt",
                    ),
                ),
                (
                    "winner",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="won_orders",
                        to="pool.workload",
                    ),
                ),
                (
                    "workload",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="orders",
                        to="pool.workload",
                    ),
                ),
            ],
            options={
                "ordering": ["-pk"],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("settled_at", None)),
                        fields=("attempt",),
                        name="yield_one_open_per_attempt",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "kind__in",
                                [
                                    pool.lifecycle.yielding.YieldKind["BREAK_GLASS"],
                                    pool.lifecycle.yielding.YieldKind["HAND_BACK"],
                                    pool.lifecycle.yielding.YieldKind["MAINTENANCE"],
                                    pool.lifecycle.yielding.YieldKind["OVERRUN"],
                                    pool.lifecycle.yielding.YieldKind["PREEMPT"],
                                    pool.lifecycle.yielding.YieldKind["PROOF"],
                                ],
                            )
                        ),
                        name="yield_kind_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("outcome", ""), ("settled_at", None)),
                            models.Q(
                                (
                                    "outcome__in",
                                    [
                                        pool.lifecycle.yielding.YieldOutcome["ENDED"],
                                        pool.lifecycle.yielding.YieldOutcome["FINISHED"],
                                        pool.lifecycle.yielding.YieldOutcome["LOST"],
                                        pool.lifecycle.yielding.YieldOutcome["RELEASED"],
                                    ],
                                ),
                                ("settled_at__isnull", False),
                            ),
                            _connector="OR",
                        ),
                        name="yield_outcome_known",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Accuracy",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("p90_ratio", models.FloatField()),
                ("runs", models.PositiveIntegerField()),
                (
                    "user",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="accuracy",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("p90_ratio__gt", 0)), name="accuracy_ratio_positive"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="AlertDelivery",
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
                        editable=False, max_length=48, prefix="ad", unique=True
                    ),
                ),
                ("word", models.CharField(max_length=10)),
                ("made_at", models.DateTimeField(auto_now_add=True)),
                ("due_at", models.DateTimeField()),
                ("waits_for", models.CharField(blank=True, max_length=40)),
                ("tries", models.PositiveSmallIntegerField(default=0)),
                ("claimed_at", models.DateTimeField(blank=True, null=True)),
                ("sent_at", models.DateTimeField(blank=True, null=True)),
                ("given_up_at", models.DateTimeField(blank=True, null=True)),
                ("dropped_at", models.DateTimeField(blank=True, null=True)),
                ("error", models.CharField(blank=True, max_length=200)),
                (
                    "alert",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="deliveries",
                        to="pool.alert",
                    ),
                ),
                (
                    "channel",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="deliveries",
                        to="pool.alertchannel",
                    ),
                ),
                (
                    "route",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        to="pool.alertroute",
                    ),
                ),
            ],
            options={
                "ordering": ["-pk"],
                "indexes": [
                    models.Index(
                        condition=models.Q(
                            ("dropped_at", None), ("given_up_at", None), ("sent_at", None)
                        ),
                        fields=["due_at"],
                        name="alert_delivery_due",
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("alert", "channel", "word"), name="alert_delivery_once"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "word__in",
                                [
                                    pool.rules.alerting.terms.Word["FIRED"],
                                    pool.rules.alerting.terms.Word["RESOLVED"],
                                ],
                            )
                        ),
                        name="alert_delivery_word_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("given_up_at", None), ("sent_at", None)),
                            models.Q(("dropped_at", None), ("sent_at", None)),
                            models.Q(("dropped_at", None), ("given_up_at", None)),
                            _connector="OR",
                        ),
                        name="alert_delivery_ends_one_way",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Delegation",
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
                        editable=False, max_length=48, prefix="dg", unique=True
                    ),
                ),
                ("span", django.contrib.postgres.fields.ranges.DateTimeRangeField()),
                ("reason", models.CharField(blank=True, max_length=200)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("ended_at", models.DateTimeField(blank=True, null=True)),
                (
                    "deputy",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="deputations",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "person",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="delegations",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["-pk"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("person", models.F("deputy")), _negated=True),
                        name="delegation_to_another",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("span__isempty", False),
                            ("span__lower_inf", False),
                            ("span__upper_inf", False),
                        ),
                        name="delegation_has_an_end",
                    ),
                    django.contrib.postgres.constraints.ExclusionConstraint(
                        condition=models.Q(("ended_at", None)),
                        expressions=[("person", "="), ("span", "&&")],
                        name="delegation_one_at_a_time",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Cutback",
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
                        editable=False, max_length=48, prefix="cb", unique=True
                    ),
                ),
                ("used_milli", models.PositiveIntegerField()),
                ("copies", models.PositiveIntegerField()),
                ("keeps", models.PositiveIntegerField()),
                ("due_at", models.DateTimeField()),
                (
                    "state",
                    models.CharField(
                        default=pool.lifecycle.targets.CutbackState["NOTICED"], max_length=12
                    ),
                ),
                ("state_since", models.DateTimeField(auto_now_add=True)),
                ("state_reason", models.CharField(blank=True, max_length=200)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "lease",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="cutbacks",
                        to="pool.lease",
                    ),
                ),
            ],
            options={
                "ordering": ["-pk"],
                "indexes": [
                    models.Index(
                        condition=models.Q(("state", "noticed")),
                        fields=["due_at"],
                        name="cutback_due",
                    )
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "state__in",
                                [
                                    pool.lifecycle.targets.CutbackState["CUT"],
                                    pool.lifecycle.targets.CutbackState["NOTICED"],
                                    pool.lifecycle.targets.CutbackState["WITHDRAWN"],
                                ],
                            )
                        ),
                        name="cutback_state_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("keeps__lt", models.F("copies"))),
                        name="cutback_keeps_less",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("state", "noticed")),
                        fields=("lease",),
                        name="cutback_one_open",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="LogChunk",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("rank", models.PositiveSmallIntegerField(default=0)),
                ("offset", models.BigIntegerField()),
                ("size", models.PositiveIntegerField()),
                ("text", models.TextField()),
                ("at", models.DateTimeField(auto_now_add=True)),
                (
                    "attempt",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="log_chunks",
                        to="pool.attempt",
                    ),
                ),
            ],
            options={
                "ordering": ["attempt", "rank", "offset"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("attempt", "rank", "offset"), name="log_chunk_once"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="NodeWatch",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("watcher_boot_id", models.CharField(max_length=64)),
                ("report_count", models.BigIntegerField()),
                ("first_seen_boottime", models.FloatField()),
                (
                    "swept_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
                (
                    "node",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="watches",
                        to="pool.node",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("node", "watcher_boot_id"), name="node_watch_once"
                    )
                ],
            },
        ),
        migrations.AddField(
            model_name="user",
            name="service_project",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="service_accounts",
                to="pool.project",
            ),
        ),
        migrations.AddField(
            model_name="lease",
            name="request",
            field=models.OneToOneField(
                on_delete=django.db.models.deletion.PROTECT, related_name="lease", to="pool.request"
            ),
        ),
        migrations.AddField(
            model_name="request",
            name="template_version",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, to="pool.templateversion"
            ),
        ),
        migrations.AddField(
            model_name="lease",
            name="template_version",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, to="pool.templateversion"
            ),
        ),
        migrations.AddField(
            model_name="attempt",
            name="workload",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT,
                related_name="attempts",
                to="pool.workload",
            ),
        ),
        migrations.AddConstraint(
            model_name="user",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("service_project", None), ("service_account", True), _connector="OR"
                ),
                name="user_of_a_project_is_a_service_account",
            ),
        ),
        migrations.AddConstraint(
            model_name="attempt",
            constraint=models.UniqueConstraint(
                fields=("workload", "number"), name="attempt_number_once"
            ),
        ),
        migrations.AddConstraint(
            model_name="attempt",
            constraint=models.UniqueConstraint(
                condition=models.Q(("state", "open")),
                fields=("workload",),
                name="attempt_one_open_per_workload",
            ),
        ),
        migrations.RunSQL(_SPANS.CLOCK, _SPANS.CLOCK_BACK),
        migrations.RunSQL(_SPANS.EVENTS, _SPANS.EVENTS_BACK),
        migrations.RunSQL(_SPANS.SAMPLES, _SPANS.SAMPLES_BACK),
        migrations.RunSQL(_MORE_READINGS.ADD, _MORE_READINGS.DROP),
        migrations.RunSQL(_ROLLUPS.TABLES, _ROLLUPS.BACK),
        migrations.RunPython(first_row, migrations.RunPython.noop),
    ]
