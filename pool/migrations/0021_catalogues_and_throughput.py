"""Storage, secrets, environments and who uses them; what cards and work say of themselves more."""

import django.db.models.deletion
import pool.lifecycle.catalogue
import pool.models.ids
from django.conf import settings
from django.db import migrations, models


ADD = """
ALTER TABLE pool_sample
    ADD COLUMN encoder_mean double precision,
    ADD COLUMN decoder_mean double precision,
    ADD COLUMN ecc_corrected bigint,
    ADD COLUMN ecc_uncorrected bigint,
    ADD COLUMN throttle bigint,
    ADD COLUMN samples_s double precision,
    ADD COLUMN tokens_s double precision,
    ADD COLUMN queries_s double precision,
    ADD COLUMN latency_ms double precision;
"""
DROP = """
ALTER TABLE pool_sample
    DROP COLUMN encoder_mean,
    DROP COLUMN decoder_mean,
    DROP COLUMN ecc_corrected,
    DROP COLUMN ecc_uncorrected,
    DROP COLUMN throttle,
    DROP COLUMN samples_s,
    DROP COLUMN tokens_s,
    DROP COLUMN queries_s,
    DROP COLUMN latency_ms;
"""


class Migration(migrations.Migration):
    dependencies = [
        ("pool", "0020_notices_deputies_and_policies"),
    ]

    operations = [
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
        migrations.AlterField(
            model_name="workload",
            name="image",
            field=models.CharField(blank=True, max_length=400),
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
                    "organization",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="environments",
                        to="pool.organization",
                    ),
                ),
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
            ],
            options={
                "ordering": ["slug"],
            },
        ),
        migrations.AddField(
            model_name="templateversion",
            name="environment",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="pool.environment",
            ),
        ),
        migrations.AddField(
            model_name="workload",
            name="environment",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="workloads",
                to="pool.environment",
            ),
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
            },
        ),
        migrations.AddConstraint(
            model_name="environment",
            constraint=models.CheckConstraint(
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
        ),
        migrations.AddConstraint(
            model_name="environment",
            constraint=models.CheckConstraint(
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
        ),
        migrations.AddConstraint(
            model_name="environment",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("kind", "image"),
                    models.Q(("digest", ""), ("reference__startswith", "/")),
                    _connector="OR",
                ),
                name="environment_folder_whole",
            ),
        ),
        migrations.AddConstraint(
            model_name="secret",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("project__isnull", False), ("user", None)),
                    models.Q(("project", None), ("user__isnull", False)),
                    _connector="OR",
                ),
                name="secret_of_one",
            ),
        ),
        migrations.AddConstraint(
            model_name="secret",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("removed_at", None), models.Q(("sealed", ""), _negated=True)),
                    models.Q(("removed_at__isnull", False), ("sealed", "")),
                    _connector="OR",
                ),
                name="secret_removed_is_empty",
            ),
        ),
        migrations.AddConstraint(
            model_name="secret",
            constraint=models.UniqueConstraint(
                condition=models.Q(("removed_at", None)),
                fields=("name", "user", "project"),
                name="secret_name_once",
                nulls_distinct=False,
            ),
        ),
        migrations.AddConstraint(
            model_name="secretuse",
            constraint=models.CheckConstraint(
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
        ),
        migrations.AddConstraint(
            model_name="secretuse",
            constraint=models.UniqueConstraint(
                fields=("workload", "form", "name"), name="secret_use_once"
            ),
        ),
        migrations.AddConstraint(
            model_name="storage",
            constraint=models.CheckConstraint(
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
        ),
        migrations.AddConstraint(
            model_name="storage",
            constraint=models.CheckConstraint(
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
        ),
        migrations.AddConstraint(
            model_name="storage",
            constraint=models.CheckConstraint(
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
        ),
        migrations.AddConstraint(
            model_name="storage",
            constraint=models.CheckConstraint(
                condition=models.Q(("path__startswith", "/")), name="storage_path_whole"
            ),
        ),
        migrations.AddConstraint(
            model_name="storage",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("organization", None), ("project", None)),
                    models.Q(("organization", None), ("user", None)),
                    models.Q(("project", None), ("user", None)),
                    _connector="OR",
                ),
                name="storage_of_one",
            ),
        ),
        migrations.AddConstraint(
            model_name="storage",
            constraint=models.UniqueConstraint(
                fields=("name_folded", "organization", "project", "user"),
                name="storage_name_once",
                nulls_distinct=False,
            ),
        ),
        migrations.AddConstraint(
            model_name="storageuse",
            constraint=models.CheckConstraint(
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
        ),
        migrations.AddConstraint(
            model_name="storageuse",
            constraint=models.UniqueConstraint(
                fields=("workload", "at"), name="storage_use_at_once"
            ),
        ),
        migrations.RunSQL(ADD, DROP),
    ]
