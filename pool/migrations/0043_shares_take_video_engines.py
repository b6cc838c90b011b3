"""Soft shares keep how many of their card's video engines they take."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("pool", "0042_defaults_for_those_who_do_not_know_them")]

    operations = [
        migrations.AddField(
            model_name="slice",
            name="decoder_units",
            field=models.PositiveSmallIntegerField(db_default=0, default=0),
        ),
        migrations.AddField(
            model_name="slice",
            name="encoder_units",
            field=models.PositiveSmallIntegerField(db_default=0, default=0),
        ),
        migrations.AddConstraint(
            model_name="slice",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("decoder_units", 0), ("encoder_units", 0)),
                    models.Q(("mode__in", ["whole", "mig"]), _negated=True),
                    _connector="OR",
                ),
                name="slice_engines_of_soft_shares",
            ),
        ),
    ]
