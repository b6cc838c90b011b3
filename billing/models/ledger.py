"""The ledger: entries of postings that sum to zero. Rows are never changed or removed."""

from django.db import models

from pool.models.ids import UidField


class Entry(models.Model):
    """One balanced set of postings, written in one statement; the database refuses any other sum.

    `scope` says what it is about, with the hour: "card:12", "host:3" (an organization's cores and
    memory), "month:7". What is posted of one scope, hour and currency adds up: a later entry holds
    only what has changed. `kind` is metered, correction, overhead, minimum, credit.
    """

    id = models.BigAutoField(primary_key=True)
    uid = UidField(prefix="le")
    kind = models.CharField(max_length=12)
    scope = models.CharField(max_length=48)
    hour = models.DateTimeField()
    currency = models.CharField(max_length=3)
    reason = models.CharField(max_length=200, default="")
    actor_label = models.CharField(max_length=160, default="")
    posted_at = models.DateTimeField()

    class Meta:
        managed = False
        db_table = "billing_entry"
        ordering = ["id"]

    def __str__(self) -> str:
        return f"{self.kind} {self.scope} {self.hour:%Y-%m-%d %H}"


class Posting(models.Model):
    """An amount on an account, in 10⁻⁶ of the currency; `card_us` is the card time behind it.

    `organization_id` and `project_id` say on whose bill it is, None for the platform. `day` is the
    local day on which it arose, `month` the bill that it is on: the same month, or the first open
    one where that was closed already. `usage_id` leads to the row, the placement and its events.
    """

    id = models.BigAutoField(primary_key=True)
    entry = models.ForeignKey(Entry, on_delete=models.PROTECT, related_name="postings")
    account = models.CharField(max_length=16)
    usage_id = models.BigIntegerField(null=True)
    organization_id = models.BigIntegerField(null=True)
    project_id = models.BigIntegerField(null=True)
    day = models.DateField()
    month = models.DateField()
    amount_micro = models.BigIntegerField()
    card_us = models.BigIntegerField(default=0)

    class Meta:
        managed = False
        db_table = "billing_posting"
        ordering = ["id"]

    def __str__(self) -> str:
        return f"{self.account}: {self.amount_micro}"
