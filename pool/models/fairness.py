"""How much of the pool an organization or a project has used lately, for the order between them."""

from django.db import models
from django.db.models import Q

from pool.models.tenants import Organization, Project


class FairUse(models.Model):
    """What a tenant held, in card-seconds, each counted half for every week since it was held.

    Worked out anew from the holds, never added to: a lost or doubled run changes nothing.
    """

    organization = models.OneToOneField(
        Organization, on_delete=models.CASCADE, related_name="fair_use", null=True, blank=True
    )
    project = models.OneToOneField(
        Project, on_delete=models.CASCADE, related_name="fair_use", null=True, blank=True
    )
    card_seconds = models.FloatField()

    class Meta:
        constraints = [
            models.CheckConstraint(name="fair_use_not_negative", condition=Q(card_seconds__gte=0)),
            models.CheckConstraint(
                name="fair_use_of_one_tenant",
                condition=Q(organization=None, project__isnull=False)
                | Q(organization__isnull=False, project=None),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.organization_id or self.project_id}: {self.card_seconds}"
