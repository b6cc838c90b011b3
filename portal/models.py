"""The portal's own rows: API tokens, and calls that are answered only once."""

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from pool.models.ids import UidField

SCOPES = ("read", "write")


class ApiToken(models.Model):
    """Lets a script act for one user. Only the hash is kept; `hint` is its last four characters.

    `last_used_at` is written at most once a minute. A token with the scope `read` alone changes
    nothing.
    """

    uid = UidField(prefix="tk")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="api_tokens"
    )
    name = models.CharField(max_length=63)
    token_hash = models.CharField(max_length=64, unique=True)
    hint = models.CharField(max_length=4)
    scopes = ArrayField(models.CharField(max_length=8), default=list)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(name="api_token_has_name", condition=~Q(name="")),
            models.CheckConstraint(
                name="api_token_scopes_known",
                condition=Q(scopes__contained_by=list(SCOPES)) & ~Q(scopes=[]),
            ),
        ]
        indexes = [models.Index(fields=["user", "-id"], name="api_token_by_user")]

    def __str__(self) -> str:
        return f"{self.name} …{self.hint}"


class IdempotentCall(models.Model):
    """The one answer to an Idempotency-Key of one caller, kept for 24 hours.

    Written in the transaction that does the work, so that a lost answer is never a lost row.
    """

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="idempotent_calls"
    )
    token = models.ForeignKey(
        ApiToken, on_delete=models.CASCADE, related_name="idempotent_calls", null=True, blank=True
    )
    key = models.CharField(max_length=200)
    body_hash = models.CharField(max_length=64)
    status = models.PositiveSmallIntegerField()
    response = models.JSONField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                name="idempotent_call_once",
                fields=["user", "token", "key"],
                nulls_distinct=False,
            ),
        ]
        indexes = [models.Index(fields=["created_at"], name="idempotent_call_by_age")]

    def __str__(self) -> str:
        return f"{self.key}: {self.status}"


class GatewayPass(models.Model):
    """Lets one browser into one workload on the gateway, as long as its login lives.

    It begins as a ticket (single use, one minute) and becomes a cookie; only hashes are kept. It
    ends with the login's session, or with the token that asked for it. One that `reads` opens only
    the pages about the files of a notebook that was shared.
    """

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="gateway_passes"
    )
    workload = models.ForeignKey("pool.Workload", on_delete=models.CASCADE, related_name="+")
    reads = models.BooleanField(default=False, db_default=False)
    session_key = models.CharField(max_length=40, blank=True)
    token = models.ForeignKey(
        ApiToken, on_delete=models.CASCADE, related_name="+", null=True, blank=True
    )
    ticket_hash = models.CharField(max_length=64, unique=True)
    ticket_until = models.DateTimeField()
    cookie_hash = models.CharField(max_length=64, unique=True, null=True, blank=True)
    until = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="gateway_pass_of_a_login",
                condition=~Q(session_key="") | Q(token__isnull=False),
            ),
        ]
        indexes = [models.Index(fields=["until"], name="gateway_pass_by_end")]

    def __str__(self) -> str:
        return f"pass {self.pk}"
