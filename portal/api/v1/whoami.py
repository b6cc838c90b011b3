"""Who the caller is, and what they may do where."""

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from pool.models import Membership, User
from pool.selectors.memberships import membership_list
from portal.api.door import Door
from portal.api.v1.memberships import MembershipOut
from portal.models import ApiToken


class TokenShort(serializers.ModelSerializer[ApiToken]):
    """The token of this very call."""

    class Meta:
        model = ApiToken
        fields = ["uid", "name", "scopes", "expires_at"]


class WhoamiOut(serializers.Serializer[Any]):
    """The caller, the roles, and the token that was used (null for a session)."""

    uid = serializers.CharField(source="user.uid")
    username = serializers.CharField(source="user.username")
    display_name = serializers.CharField(source="user.display_name")
    language = serializers.CharField(source="user.language")
    zone = serializers.CharField(source="user.zone")
    memberships = MembershipOut(many=True)
    token = TokenShort(allow_null=True)


class WhoamiDoor(Door):
    """Ask with a new token whether it works, and for whom."""

    serializer_class = WhoamiOut
    queryset = User.objects.none()
    pagination_class = None

    def list(self, request: Request) -> Response:
        """Who I am."""
        token = request.auth if isinstance(request.auth, ApiToken) else None
        roles: list[Membership] = list(membership_list(user=self.user))
        return self.said({"user": self.user, "memberships": roles, "token": token})
