"""The first tables, with the constraints that keep the pool true."""

import django.contrib.auth.models
import django.contrib.auth.validators
import django.contrib.postgres.constraints
import django.contrib.postgres.fields
import django.contrib.postgres.fields.ranges
import django.contrib.postgres.indexes
import django.db.models.deletion
import django.utils.timezone
import nodeagent.protocol.vocabulary
import pool.lifecycle.alerts
import pool.lifecycle.cards
import pool.lifecycle.leases
import pool.lifecycle.nodes
import pool.lifecycle.placements
import pool.lifecycle.requests
import pool.lifecycle.roles
import pool.lifecycle.slices
import pool.lifecycle.workloads
import pool.models.ids
from django.conf import settings
from django.contrib.postgres.operations import BtreeGistExtension, TrigramExtension
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

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
                ("fidelity", models.CharField(max_length=12)),
            ],
            options={
                "db_table": "pool_sample",
                "managed": False,
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
                ("example", models.BooleanField(default=False)),
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
            },
            managers=[
                ("objects", django.contrib.auth.models.UserManager()),
            ],
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
            ],
            options={
                "ordering": ["-pk"],
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
                ("example", models.BooleanField(default=False)),
                ("first_run", models.CharField(default="", max_length=12)),
                ("round_wanted", models.BigIntegerField(default=0)),
                ("round_done", models.BigIntegerField(default=0)),
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
                ("billable", models.BooleanField(default=True)),
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
            },
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
                ("preemption", models.BooleanField(default=False)),
                ("sharing", models.BooleanField(default=True)),
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
            ],
            options={
                "ordering": ["rank", "slug"],
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
                ("uid_base", models.PositiveIntegerField(default=200000)),
                ("example", models.BooleanField(default=False)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
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
                (
                    "steps",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=20), default=list, size=None
                    ),
                ),
                ("step", models.PositiveSmallIntegerField(default=0)),
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
            ],
            options={
                "ordering": ["rank", "slug"],
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
                ("idle_seconds", models.PositiveIntegerField(blank=True, null=True)),
                ("checkpoint_seconds", models.PositiveIntegerField(blank=True, null=True)),
                ("bandwidth", models.CharField(default="light", max_length=8)),
                ("min_profile_compute", models.PositiveSmallIntegerField(default=0)),
                ("unlimited_modes", models.BooleanField(default=False)),
                ("price_class", models.CharField(default="standard", max_length=32)),
                ("approval", models.JSONField(default=dict)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
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
            },
        ),
        migrations.AddField(
            model_name="request",
            name="template_version",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, to="pool.templateversion"
            ),
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
                (
                    "request",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="lease",
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
                ("need", models.JSONField(default=dict)),
                (
                    "command",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.TextField(), default=list, size=None
                    ),
                ),
                ("env", models.JSONField(default=dict)),
                ("files", models.JSONField(default=dict)),
                ("runner", models.CharField(default="process", max_length=16)),
                ("image", models.CharField(blank=True, max_length=255)),
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
                ("grace_seconds", models.PositiveIntegerField(default=30)),
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
                ("attempts_made", models.PositiveIntegerField(default=0)),
                ("exit_code", models.IntegerField(blank=True, null=True)),
                ("exit_reason", models.CharField(blank=True, max_length=16)),
                ("message", models.CharField(blank=True, max_length=400)),
                ("submitted_at", models.DateTimeField(auto_now_add=True)),
                ("queued_at", models.DateTimeField(blank=True, null=True)),
                ("started_at", models.DateTimeField(blank=True, null=True)),
                ("ended_at", models.DateTimeField(blank=True, null=True)),
                ("example", models.BooleanField(default=False)),
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
            },
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
        migrations.AddConstraint(
            model_name="partition",
            constraint=models.CheckConstraint(
                condition=models.Q(("policy__in", ["binpack", "spread", "fragmentation"])),
                name="partition_policy_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="card",
            constraint=models.CheckConstraint(
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
        ),
        migrations.AddConstraint(
            model_name="card",
            constraint=models.CheckConstraint(
                condition=models.Q(("memory_mib__gt", 0), ("nominal_gb__gt", 0)),
                name="card_has_memory",
            ),
        ),
        migrations.AddConstraint(
            model_name="placement",
            constraint=models.UniqueConstraint(
                condition=models.Q(("state", "open")),
                fields=("attempt",),
                name="placement_one_open_per_attempt",
            ),
        ),
        migrations.AddConstraint(
            model_name="placement",
            constraint=models.CheckConstraint(
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
        ),
        migrations.AddConstraint(
            model_name="placement",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("closed_at", None), ("state", "open")),
                    models.Q(("closed_at__isnull", False), ("state", "closed")),
                    _connector="OR",
                ),
                name="placement_closed_has_end",
            ),
        ),
        migrations.AddConstraint(
            model_name="membership",
            constraint=models.CheckConstraint(
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
        ),
        migrations.AddConstraint(
            model_name="membership",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("organization", None), ("project", None), ("role", "platform_admin")),
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
        ),
        migrations.AddConstraint(
            model_name="membership",
            constraint=models.UniqueConstraint(
                fields=("user", "organization", "project", "role"),
                name="membership_once",
                nulls_distinct=False,
            ),
        ),
        migrations.AddConstraint(
            model_name="quota",
            constraint=models.CheckConstraint(
                condition=models.Q(("held__gte", 0), ("held__lte", models.F("ceiling"))),
                name="quota_held_within_ceiling",
            ),
        ),
        migrations.AddConstraint(
            model_name="quota",
            constraint=models.CheckConstraint(
                condition=models.Q(("ceiling__gte", models.F("limit_value"))),
                name="quota_ceiling_covers_limit",
            ),
        ),
        migrations.AddConstraint(
            model_name="quota",
            constraint=models.CheckConstraint(
                condition=models.Q(("limit_value__gte", 0)), name="quota_limit_not_negative"
            ),
        ),
        migrations.AddConstraint(
            model_name="quota",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    (
                        "unit__in",
                        [
                            pool.lifecycle.roles.QuotaUnit["CARD_SECONDS"],
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
        ),
        migrations.AddConstraint(
            model_name="quota",
            constraint=models.CheckConstraint(
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
        ),
        migrations.AddConstraint(
            model_name="quota",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("organization__isnull", False), ("project", None), ("user", None)),
                    models.Q(("organization", None), ("project__isnull", False)),
                    _connector="OR",
                ),
                name="quota_has_one_tenant",
            ),
        ),
        migrations.AddConstraint(
            model_name="quota",
            constraint=models.UniqueConstraint(
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
        ),
        migrations.AddIndex(
            model_name="slice",
            index=models.Index(
                condition=models.Q(("lived__upper_inf", True)), fields=["card"], name="slice_living"
            ),
        ),
        migrations.AddConstraint(
            model_name="slice",
            constraint=django.contrib.postgres.constraints.ExclusionConstraint(
                expressions=[("card", "="), ("span", "&&"), ("lived", "&&")],
                name="slice_no_overlap_on_card",
            ),
        ),
        migrations.AddConstraint(
            model_name="slice",
            constraint=django.contrib.postgres.constraints.ExclusionConstraint(
                expressions=[("card", "="), ("mode", "<>"), ("lived", "&&")],
                name="slice_one_mode_per_card",
            ),
        ),
        migrations.AddConstraint(
            model_name="slice",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("mode__in", ["whole", "mig"]), ("span__isnull", False)),
                    models.Q(
                        ("span", None), models.Q(("mode__in", ["whole", "mig"]), _negated=True)
                    ),
                    _connector="OR",
                ),
                name="slice_place_by_mode",
            ),
        ),
        migrations.AddConstraint(
            model_name="slice",
            constraint=models.CheckConstraint(
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
        ),
        migrations.AddConstraint(
            model_name="slice",
            constraint=models.CheckConstraint(
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
        ),
        migrations.AddConstraint(
            model_name="slice",
            constraint=models.CheckConstraint(
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
        ),
        migrations.AddConstraint(
            model_name="slice",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("lived__upper_inf", False), ("state", "gone")),
                    models.Q(
                        models.Q(("state", "gone"), _negated=True), ("lived__upper_inf", True)
                    ),
                    _connector="OR",
                ),
                name="slice_life_ends_when_gone",
            ),
        ),
        migrations.AddConstraint(
            model_name="slice",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("compute_milli__lte", 1000),
                    ("equivalents_micro__lte", 1000000),
                    ("memory_mib__gt", 0),
                ),
                name="slice_within_a_card",
            ),
        ),
        migrations.AddIndex(
            model_name="hold",
            index=models.Index(
                condition=models.Q(("held__upper_inf", True)),
                fields=["placement"],
                name="hold_open",
            ),
        ),
        migrations.AddConstraint(
            model_name="hold",
            constraint=django.contrib.postgres.constraints.ExclusionConstraint(
                expressions=[("slice", "="), ("held", "&&")], name="hold_one_holder_per_slice"
            ),
        ),
        migrations.AddConstraint(
            model_name="hold",
            constraint=django.contrib.postgres.constraints.ExclusionConstraint(
                condition=models.Q(("isolation__in", ["process", "none", "unknown"])),
                expressions=[("card", "="), ("trust", "<>"), ("held", "&&")],
                name="hold_one_trust_per_unisolated_card",
            ),
        ),
        migrations.AddConstraint(
            model_name="hold",
            constraint=django.contrib.postgres.constraints.ExclusionConstraint(
                condition=models.Q(("fenced", False)),
                expressions=[("node", "="), ("trust", "<>"), ("held", "&&")],
                name="hold_one_trust_per_unfenced_node",
            ),
        ),
        migrations.AddConstraint(
            model_name="hold",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("card__isnull", False), ("slice__isnull", False)),
                    models.Q(("card", None), ("mode", "host"), ("slice", None)),
                    _connector="OR",
                ),
                name="hold_slice_or_host_share",
            ),
        ),
        migrations.AddConstraint(
            model_name="hold",
            constraint=models.CheckConstraint(
                condition=models.Q(("held__isempty", False)), name="hold_span_not_empty"
            ),
        ),
        migrations.AddConstraint(
            model_name="templateversion",
            constraint=models.UniqueConstraint(
                fields=("template", "number"), name="template_version_once"
            ),
        ),
        migrations.AddConstraint(
            model_name="templateversion",
            constraint=models.CheckConstraint(
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
        ),
        migrations.AddConstraint(
            model_name="templateversion",
            constraint=models.CheckConstraint(
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
        ),
        migrations.AddConstraint(
            model_name="templateversion",
            constraint=models.CheckConstraint(
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
        ),
        migrations.AddIndex(
            model_name="request",
            index=models.Index(fields=["state", "-id"], name="request_by_state"),
        ),
        migrations.AddConstraint(
            model_name="request",
            constraint=models.CheckConstraint(
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
        ),
        migrations.AddConstraint(
            model_name="request",
            constraint=models.CheckConstraint(
                condition=models.Q(("duration_seconds__gt", 0)), name="request_has_duration"
            ),
        ),
        migrations.AddConstraint(
            model_name="request",
            constraint=models.CheckConstraint(
                condition=models.Q(("copies__gt", 0)), name="request_has_copies"
            ),
        ),
        migrations.AddConstraint(
            model_name="request",
            constraint=models.CheckConstraint(
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
        ),
        migrations.AddConstraint(
            model_name="request",
            constraint=models.CheckConstraint(
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
        ),
        migrations.AddConstraint(
            model_name="lease",
            constraint=models.CheckConstraint(
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
        ),
        migrations.AddConstraint(
            model_name="lease",
            constraint=models.CheckConstraint(
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
        ),
        migrations.AddConstraint(
            model_name="lease",
            constraint=models.CheckConstraint(
                condition=models.Q(("valid__isempty", False), ("valid__upper_inf", False)),
                name="lease_has_an_end",
            ),
        ),
        migrations.AddConstraint(
            model_name="project",
            constraint=models.CheckConstraint(
                condition=models.Q(("name", ""), _negated=True), name="project_has_name"
            ),
        ),
        migrations.AddIndex(
            model_name="workload",
            index=models.Index(fields=["state", "id"], name="workload_by_state"),
        ),
        migrations.AddIndex(
            model_name="workload",
            index=models.Index(fields=["project", "-id"], name="workload_by_project"),
        ),
        migrations.AddIndex(
            model_name="workload",
            index=models.Index(fields=["owner", "-id"], name="workload_by_owner"),
        ),
        migrations.AddIndex(
            model_name="workload",
            index=django.contrib.postgres.indexes.GinIndex(
                fields=["name_folded"], name="workload_name_search", opclasses=["gin_trgm_ops"]
            ),
        ),
        migrations.AddConstraint(
            model_name="workload",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    (
                        "state__in",
                        [
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
        ),
        migrations.AddConstraint(
            model_name="workload",
            constraint=models.CheckConstraint(
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
        ),
        migrations.AddConstraint(
            model_name="workload",
            constraint=models.CheckConstraint(
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
        ),
        migrations.AddConstraint(
            model_name="workload",
            constraint=models.CheckConstraint(
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
        ),
        migrations.AddConstraint(
            model_name="workload",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    (
                        "exit_reason__in",
                        [
                            "",
                            nodeagent.protocol.vocabulary.ExitReason["CANCELLED"],
                            nodeagent.protocol.vocabulary.ExitReason["FENCED"],
                            nodeagent.protocol.vocabulary.ExitReason["FINISHED"],
                            nodeagent.protocol.vocabulary.ExitReason["KILLED"],
                            nodeagent.protocol.vocabulary.ExitReason["LIMIT"],
                            nodeagent.protocol.vocabulary.ExitReason["NEIGHBOUR"],
                            nodeagent.protocol.vocabulary.ExitReason["NODE_LOST"],
                            nodeagent.protocol.vocabulary.ExitReason["NODE_STOPPED"],
                            nodeagent.protocol.vocabulary.ExitReason["OOM_CARD"],
                            nodeagent.protocol.vocabulary.ExitReason["OOM_HOST"],
                            nodeagent.protocol.vocabulary.ExitReason["OWN_ERROR"],
                            nodeagent.protocol.vocabulary.ExitReason["PREEMPTED"],
                            nodeagent.protocol.vocabulary.ExitReason["RECLAIMED"],
                            nodeagent.protocol.vocabulary.ExitReason["START_FAILED"],
                            nodeagent.protocol.vocabulary.ExitReason["STOPPED"],
                        ],
                    )
                ),
                name="workload_exit_reason_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="workload",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    (
                        "stop_reason__in",
                        [
                            "",
                            nodeagent.protocol.vocabulary.ExitReason["CANCELLED"],
                            nodeagent.protocol.vocabulary.ExitReason["FENCED"],
                            nodeagent.protocol.vocabulary.ExitReason["FINISHED"],
                            nodeagent.protocol.vocabulary.ExitReason["KILLED"],
                            nodeagent.protocol.vocabulary.ExitReason["LIMIT"],
                            nodeagent.protocol.vocabulary.ExitReason["NEIGHBOUR"],
                            nodeagent.protocol.vocabulary.ExitReason["NODE_LOST"],
                            nodeagent.protocol.vocabulary.ExitReason["NODE_STOPPED"],
                            nodeagent.protocol.vocabulary.ExitReason["OOM_CARD"],
                            nodeagent.protocol.vocabulary.ExitReason["OOM_HOST"],
                            nodeagent.protocol.vocabulary.ExitReason["OWN_ERROR"],
                            nodeagent.protocol.vocabulary.ExitReason["PREEMPTED"],
                            nodeagent.protocol.vocabulary.ExitReason["RECLAIMED"],
                            nodeagent.protocol.vocabulary.ExitReason["START_FAILED"],
                            nodeagent.protocol.vocabulary.ExitReason["STOPPED"],
                        ],
                    )
                ),
                name="workload_stop_reason_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="workload",
            constraint=models.CheckConstraint(
                condition=models.Q(("name", ""), _negated=True), name="workload_has_name"
            ),
        ),
        migrations.AddConstraint(
            model_name="workload",
            constraint=models.CheckConstraint(
                condition=models.Q(("entitlement__in", ["allowance", "lease", "pending"])),
                name="workload_entitlement_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="workload",
            constraint=models.CheckConstraint(
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
        migrations.AddConstraint(
            model_name="attempt",
            constraint=models.CheckConstraint(
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
        ),
        migrations.AddConstraint(
            model_name="attempt",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    (
                        "exit_reason__in",
                        [
                            "",
                            nodeagent.protocol.vocabulary.ExitReason["CANCELLED"],
                            nodeagent.protocol.vocabulary.ExitReason["FENCED"],
                            nodeagent.protocol.vocabulary.ExitReason["FINISHED"],
                            nodeagent.protocol.vocabulary.ExitReason["KILLED"],
                            nodeagent.protocol.vocabulary.ExitReason["LIMIT"],
                            nodeagent.protocol.vocabulary.ExitReason["NEIGHBOUR"],
                            nodeagent.protocol.vocabulary.ExitReason["NODE_LOST"],
                            nodeagent.protocol.vocabulary.ExitReason["NODE_STOPPED"],
                            nodeagent.protocol.vocabulary.ExitReason["OOM_CARD"],
                            nodeagent.protocol.vocabulary.ExitReason["OOM_HOST"],
                            nodeagent.protocol.vocabulary.ExitReason["OWN_ERROR"],
                            nodeagent.protocol.vocabulary.ExitReason["PREEMPTED"],
                            nodeagent.protocol.vocabulary.ExitReason["RECLAIMED"],
                            nodeagent.protocol.vocabulary.ExitReason["START_FAILED"],
                            nodeagent.protocol.vocabulary.ExitReason["STOPPED"],
                        ],
                    )
                ),
                name="attempt_exit_reason_known",
            ),
        ),
    ]
