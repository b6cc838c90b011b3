"""How far a reader of the log has come."""

from django.db import models


class Cursor(models.Model):
    """The last event that a named reader has taken in, in the log's order (epoch, xact, id)."""

    name = models.CharField(max_length=40, unique=True)
    epoch = models.IntegerField(default=0)
    xact = models.BigIntegerField(default=0)
    event = models.BigIntegerField(default=0)

    def __str__(self) -> str:
        return f"{self.name}: {self.epoch}/{self.xact}/{self.event}"
