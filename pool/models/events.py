"""What happened. Rows are never changed or removed; the table is partitioned by month."""

from django.db import models


class Event(models.Model):
    """One fact, written beside the change that it tells of, in the same transaction.

    Readers follow the log in the order (epoch, xact, id) and read only what no open transaction can
    still precede (`pool.selectors.events`): ids alone are not given in the order of commits.
    """

    id = models.BigAutoField(primary_key=True)
    epoch = models.IntegerField()
    xact = models.BigIntegerField()
    kind = models.CharField(max_length=60)
    subject = models.CharField(max_length=80)
    organization_id = models.BigIntegerField(null=True)
    project_id = models.BigIntegerField(null=True)
    actor_kind = models.CharField(max_length=8)
    actor_id = models.CharField(max_length=64)
    actor_label = models.CharField(max_length=160)
    request_id = models.CharField(max_length=64, default="")
    data = models.JSONField(default=dict)
    at = models.DateTimeField()

    class Meta:
        managed = False
        db_table = "pool_event"
        ordering = ["epoch", "xact", "id"]

    def __str__(self) -> str:
        return f"{self.kind} {self.subject}"
