"""People and service accounts who use the pool."""

from django.contrib.auth.models import AbstractUser
from django.db import models
from django.db.models import F, Q

from pool.models.ids import UidField


class User(AbstractUser):
    """A person or a service account; what they may do stands in memberships.

    A service account belongs to `service_project` and acts by tokens only. Of somebody who has left
    (`left_at`) what still runs ends at `winds_down_at`, and what stays goes to the `heir`. `source`
    says who chose the user name: nobody here (empty), a directory, single sign-on, or a file.
    """

    uid = UidField(prefix="us")
    display_name = models.CharField(max_length=120, blank=True)
    language = models.CharField(max_length=12, default="", blank=True)
    zone = models.CharField(max_length=64, default="", blank=True)
    unix_account = models.CharField(max_length=64, default="", blank=True)
    service_account = models.BooleanField(default=False)
    service_project = models.ForeignKey(
        "pool.Project",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="service_accounts",
    )
    left_at = models.DateTimeField(null=True, blank=True)
    winds_down_at = models.DateTimeField(null=True, blank=True)
    heir = models.ForeignKey(
        "self", on_delete=models.PROTECT, null=True, blank=True, related_name="inherits_from"
    )
    example = models.BooleanField(default=False)
    source = models.CharField(max_length=8, default="", blank=True)

    class Meta(AbstractUser.Meta):
        ordering = ["username"]
        constraints = [
            models.CheckConstraint(
                name="user_of_a_project_is_a_service_account",
                condition=Q(service_project=None) | Q(service_account=True),
            ),
            models.CheckConstraint(
                name="user_who_left_is_not_active",
                condition=Q(left_at=None) | Q(is_active=False),
            ),
            models.CheckConstraint(
                name="user_source_known", condition=Q(source__in=("", "file", "ldap", "oidc"))
            ),
            models.CheckConstraint(
                name="user_heir_is_another", condition=Q(heir=None) | ~Q(heir=F("id"))
            ),
        ]

    def __str__(self) -> str:
        return self.display_name or self.username
