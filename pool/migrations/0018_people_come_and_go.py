"""Invitations, groups of a directory, people who leave, projects that close or move."""

import django.db.models.deletion
import pool.models.ids
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("auth", "0012_alter_user_first_name_max_length"),
        ("pool", "0017_planned_quotas_and_cutbacks"),
    ]

    operations = [
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
            ],
            options={
                "ordering": ["pk"],
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
            ],
            options={
                "ordering": ["-pk"],
            },
        ),
        migrations.AddField(
            model_name="membership",
            name="source",
            field=models.CharField(blank=True, default="", max_length=8),
        ),
        migrations.AddField(
            model_name="organization",
            name="archived_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="project",
            name="archived_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="project",
            name="closing_since",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="project",
            name="moving_to",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="arriving",
                to="pool.organization",
            ),
        ),
        migrations.AddField(
            model_name="user",
            name="heir",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="inherits_from",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="user",
            name="left_at",
            field=models.DateTimeField(blank=True, null=True),
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
            model_name="user",
            name="winds_down_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddConstraint(
            model_name="membership",
            constraint=models.CheckConstraint(
                condition=models.Q(("source__in", ["", "ldap", "oidc"])),
                name="membership_source_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="project",
            constraint=models.CheckConstraint(
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
        ),
        migrations.AddConstraint(
            model_name="project",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("archived_at", None),
                    models.Q(("closing_since", None), ("suspended", True)),
                    _connector="OR",
                ),
                name="project_archived_is_closed",
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
            model_name="user",
            constraint=models.CheckConstraint(
                condition=models.Q(("left_at", None), ("is_active", False), _connector="OR"),
                name="user_who_left_is_not_active",
            ),
        ),
        migrations.AddConstraint(
            model_name="user",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("heir", None),
                    models.Q(("heir", models.F("id")), _negated=True),
                    _connector="OR",
                ),
                name="user_heir_is_another",
            ),
        ),
        migrations.AddField(
            model_name="grouprole",
            name="organization",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="group_roles",
                to="pool.organization",
            ),
        ),
        migrations.AddField(
            model_name="grouprole",
            name="project",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="group_roles",
                to="pool.project",
            ),
        ),
        migrations.AddField(
            model_name="invitation",
            name="accepted_by",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="invitation",
            name="invited_by",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="invitation",
            name="organization",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="invitations",
                to="pool.organization",
            ),
        ),
        migrations.AddField(
            model_name="invitation",
            name="project",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="invitations",
                to="pool.project",
            ),
        ),
        migrations.AddConstraint(
            model_name="grouprole",
            constraint=models.CheckConstraint(
                condition=models.Q(("source__in", ("ldap", "oidc"))), name="group_role_source_known"
            ),
        ),
        migrations.AddConstraint(
            model_name="grouprole",
            constraint=models.CheckConstraint(
                condition=models.Q(("group", ""), _negated=True), name="group_role_has_group"
            ),
        ),
        migrations.AddConstraint(
            model_name="grouprole",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("organization", None), ("project", None), ("role", "platform_admin")),
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
        ),
        migrations.AddConstraint(
            model_name="grouprole",
            constraint=models.UniqueConstraint(
                fields=("source", "group", "role", "organization", "project"),
                name="group_role_once",
                nulls_distinct=False,
            ),
        ),
        migrations.AddConstraint(
            model_name="invitation",
            constraint=models.CheckConstraint(
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
        ),
        migrations.AddConstraint(
            model_name="invitation",
            constraint=models.CheckConstraint(
                condition=models.Q(("accepted_at", None), ("revoked_at", None), _connector="OR"),
                name="invitation_ends_one_way",
            ),
        ),
        migrations.AddConstraint(
            model_name="invitation",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("accepted_at", None), ("accepted_by", None)),
                    models.Q(("accepted_at__isnull", False), ("accepted_by__isnull", False)),
                    _connector="OR",
                ),
                name="invitation_accepted_by_somebody",
            ),
        ),
    ]
