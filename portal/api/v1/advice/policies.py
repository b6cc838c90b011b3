"""Policies of approval as written: the newest version of each organization's is in force."""

from typing import Any

from django.db.models import Q, QuerySet
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from pool.lifecycle.roles import Role
from pool.models import ApprovalPolicy
from pool.services.approvals.policies import MOST_HOURS, approval_policy_set
from portal.access.roles import Verb
from portal.api.door import Listing
from portal.api.fields import FreeJSON, Given
from portal.api.v1.references import organization_named


class ApprovalPolicyOut(serializers.ModelSerializer[ApprovalPolicy]):
    """Steps, hours (working hours) and the working calendar; no organization: of all others."""

    organization = serializers.SlugRelatedField[Any](slug_field="slug", read_only=True)
    user = serializers.SlugRelatedField[Any](slug_field="username", read_only=True)
    steps = serializers.ListField(child=serializers.DictField())
    calendar = serializers.DictField()

    class Meta:
        model = ApprovalPolicy
        fields = [
            "uid",
            "organization",
            "number",
            "steps",
            "answer_hours",
            "remind_hours",
            "escalate_hours",
            "calendar",
            "reason",
            "user",
            "at",
        ]


class PolicyIn(Given):
    """The next version. A step: {"role": "org_admin", "above": {"cards": 8, "cost": 5000}}."""

    organization = serializers.SlugField(max_length=63, required=False)
    steps = serializers.ListField(child=FreeJSON(), min_length=1, max_length=10)
    answer_hours = serializers.IntegerField(min_value=1, max_value=MOST_HOURS, default=8)
    remind_hours = serializers.IntegerField(min_value=1, max_value=MOST_HOURS, default=4)
    escalate_hours = serializers.IntegerField(min_value=1, max_value=MOST_HOURS, default=12)
    calendar = FreeJSON(default=dict)
    reason = serializers.CharField(max_length=200)


class ApprovalPolicyDoor(Listing):
    """Every version, newest first, of the places whose policy the caller may write."""

    serializer_class = ApprovalPolicyOut
    queryset = ApprovalPolicy.objects.none()
    takes = {"create": PolicyIn}
    gives = {"create": (201, ApprovalPolicyOut)}

    def rows(self) -> QuerySet[ApprovalPolicy]:
        """Of the caller's own organizations; a platform admin reads all."""
        rows = ApprovalPolicy.objects.select_related("organization", "user").order_by("-pk")
        if self.standing.platform:
            return rows
        return rows.filter(Q(organization__in=self.standing.in_organizations(Role.ORG_ADMIN)))

    def create(self, request: Request) -> Response:
        """Write the next version: new and changed requests are judged by it."""
        given = self.taken()
        slug = given.pop("organization", None)
        place = organization_named(self.standing, slug) if slug else None
        self.allow(Verb.APPROVAL_POLICY_SET, place)
        made = approval_policy_set(organization=place, user=self.user, actor=self.actor, **given)
        return self.said(made)
