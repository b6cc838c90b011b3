"""What finished runs of a template showed of its work, where nobody has declared it."""

from django.conf import settings
from django.db import models

from pool.models.templates import TemplateVersion


class LearnedBandwidth(models.Model):
    """Whether the work of a version is heavy on memory bandwidth: everybody's, or one person's.

    Of `runs` that were measured `heavy_runs` were heavy; `percent` is the median of how active the
    card's memory was on average. Written again by each sweep; nobody edits it.
    """

    version = models.ForeignKey(TemplateVersion, on_delete=models.CASCADE, related_name="learned")
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, null=True, related_name="+"
    )
    heavy = models.BooleanField()
    runs = models.PositiveSmallIntegerField()
    heavy_runs = models.PositiveSmallIntegerField()
    percent = models.FloatField()
    learned_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                name="learned_bandwidth_once", fields=["version", "owner"], nulls_distinct=False
            ),
        ]

    def __str__(self) -> str:
        return f"{self.version_id}: {'heavy' if self.heavy else 'light'}"
