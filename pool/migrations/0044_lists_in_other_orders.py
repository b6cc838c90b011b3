"""Lists by title, time and name: an index for each order that a long list may have."""

from django.contrib.postgres.indexes import GinIndex, OpClass
from django.db import migrations, models
from django.db.models.functions import Upper


class Migration(migrations.Migration):
    dependencies = [("pool", "0043_shares_take_video_engines")]

    operations = [
        migrations.AddIndex(
            model_name="request",
            index=models.Index(fields=["title", "id"], name="request_by_title"),
        ),
        migrations.AddIndex(
            model_name="request",
            index=models.Index(fields=["duration_seconds", "id"], name="request_by_duration"),
        ),
        migrations.AddIndex(
            model_name="request",
            index=GinIndex(
                OpClass(Upper("title"), name="gin_trgm_ops"), name="request_title_search"
            ),
        ),
        migrations.AddIndex(
            model_name="workload",
            index=models.Index(fields=["name_folded", "id"], name="workload_by_name"),
        ),
    ]
