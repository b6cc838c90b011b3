"""Passes that only let somebody read a shared notebook."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("portal", "0002_gateway_passes"),
    ]

    operations = [
        migrations.AddField(
            model_name="gatewaypass",
            name="reads",
            field=models.BooleanField(db_default=False, default=False),
        ),
    ]
