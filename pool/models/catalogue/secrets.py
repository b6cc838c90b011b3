"""Values that work needs and nobody may read again; sealed at rest."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from pool.models.ids import UidField
from pool.models.tenants import Project


class Secret(models.Model):
    """One value of a person or a project. `sealed` is the ciphertext, empty once it is removed.

    `version` counts how often the value was set; work gets the newest when its node asks.
    """

    uid = UidField(prefix="sc")
    name = models.CharField(max_length=63)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="secrets",
    )
    project = models.ForeignKey(
        Project, on_delete=models.PROTECT, null=True, blank=True, related_name="secrets"
    )
    sealed = models.TextField(blank=True)
    version = models.PositiveIntegerField(default=1)
    note = models.CharField(max_length=200, blank=True)
    set_by = models.CharField(max_length=160, blank=True)
    set_at = models.DateTimeField()
    created_at = models.DateTimeField(auto_now_add=True)
    removed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["name", "pk"]
        constraints = [
            models.CheckConstraint(
                name="secret_of_one",
                condition=Q(user=None, project__isnull=False) | Q(user__isnull=False, project=None),
            ),
            models.CheckConstraint(
                name="secret_removed_is_empty",
                condition=Q(removed_at=None) & ~Q(sealed="")
                | Q(removed_at__isnull=False, sealed=""),
            ),
            models.UniqueConstraint(
                name="secret_name_once",
                fields=["name", "user", "project"],
                nulls_distinct=False,
                condition=Q(removed_at=None),
            ),
        ]

    def __str__(self) -> str:
        return self.name
