from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("pool", "0012_arrays_dependencies_schedules"),
    ]

    operations = [
        migrations.AddField(
            model_name="card",
            name="errors_seen",
            field=models.BigIntegerField(default=0),
        ),
    ]
