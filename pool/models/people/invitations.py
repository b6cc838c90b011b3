"""Invitations by mail: a place and a role, for whoever holds the link."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from pool.lifecycle.roles import Role
from pool.models.ids import UidField
from pool.models.tenants import Organization, Project

IN_ORGANIZATION = ("org_admin", "billing_reader")
IN_PROJECT = ("lead", "member", "viewer")


class Invitation(models.Model):
    """Offers one role in one place to one mail address, once, until `expires_at`.

    Only a hash of the link's secret is kept. It is over when it is accepted, revoked or late.
    """

    uid = UidField(prefix="inv")
    email = models.EmailField(max_length=254)
    organization = models.ForeignKey(
        Organization, on_delete=models.PROTECT, null=True, blank=True, related_name="invitations"
    )
    project = models.ForeignKey(
        Project, on_delete=models.PROTECT, null=True, blank=True, related_name="invitations"
    )
    role = models.CharField(max_length=20, choices=[(r.value, r.value) for r in Role])
    secret_hash = models.CharField(max_length=64, unique=True)
    message = models.CharField(max_length=500, blank=True)
    invited_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    accepted_at = models.DateTimeField(null=True, blank=True)
    accepted_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+", null=True, blank=True
    )
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(
                name="invitation_role_has_its_place",
                condition=Q(role__in=IN_ORGANIZATION, organization__isnull=False, project=None)
                | Q(role__in=IN_PROJECT, organization=None, project__isnull=False),
            ),
            models.CheckConstraint(
                name="invitation_ends_one_way",
                condition=Q(accepted_at=None) | Q(revoked_at=None),
            ),
            models.CheckConstraint(
                name="invitation_accepted_by_somebody",
                condition=Q(accepted_at=None, accepted_by=None)
                | Q(accepted_at__isnull=False, accepted_by__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.email}: {self.role}"
