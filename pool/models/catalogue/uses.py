"""What one workload was given of the catalogues; pieces of an array use what their array does."""

from django.db import models
from django.db.models import Q

from pool.lifecycle.catalogue import Access, SecretForm
from pool.models.catalogue.secrets import Secret
from pool.models.catalogue.storage import Storage
from pool.models.workloads import Workload


class StorageUse(models.Model):
    """A storage object at a relative path `at` in the folder where the command starts.

    `path` is its place on the node with the words in braces filled in, judged at submission.
    """

    workload = models.ForeignKey(Workload, on_delete=models.CASCADE, related_name="storage_uses")
    storage = models.ForeignKey(Storage, on_delete=models.PROTECT, related_name="uses")
    at = models.CharField(max_length=200)
    path = models.CharField(max_length=400)
    mode = models.CharField(max_length=2, default=Access.READ)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.CheckConstraint(
                name="storage_use_mode_known", condition=Q(mode__in=sorted(Access))
            ),
            models.UniqueConstraint(name="storage_use_at_once", fields=["workload", "at"]),
        ]

    def __str__(self) -> str:
        return f"{self.storage_id} at {self.at}"


class SecretUse(models.Model):
    """A secret as a variable or a file of that name."""

    workload = models.ForeignKey(Workload, on_delete=models.CASCADE, related_name="secret_uses")
    secret = models.ForeignKey(Secret, on_delete=models.PROTECT, related_name="uses")
    form = models.CharField(max_length=4, default=SecretForm.ENV)
    name = models.CharField(max_length=63)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.CheckConstraint(
                name="secret_use_form_known", condition=Q(form__in=sorted(SecretForm))
            ),
            models.UniqueConstraint(name="secret_use_once", fields=["workload", "form", "name"]),
        ]

    def __str__(self) -> str:
        return f"{self.secret_id} as {self.form} {self.name}"
