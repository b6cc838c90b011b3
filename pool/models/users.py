"""People and service accounts who use the pool."""

from django.contrib.auth.models import AbstractUser
from django.db import models

from pool.models.ids import UidField


class User(AbstractUser):
    """A person or a service account; what they may do stands in memberships."""

    uid = UidField(prefix="us")
    display_name = models.CharField(max_length=120, blank=True)
    language = models.CharField(max_length=12, default="", blank=True)
    zone = models.CharField(max_length=64, default="", blank=True)
    unix_account = models.CharField(max_length=64, default="", blank=True)
    service_account = models.BooleanField(default=False)
    example = models.BooleanField(default=False)

    class Meta(AbstractUser.Meta):
        ordering = ["username"]

    def __str__(self) -> str:
        return self.display_name or self.username
