"""The caller's own API tokens."""

from typing import Any

from django.db.models import QuerySet
from django.utils.translation import gettext as _
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from portal.access.tokens import token_issue, token_list, token_revoke
from portal.api.door import Listed
from portal.api.fields import Filters, Given
from portal.models import SCOPES, ApiToken


class TokenOut(serializers.ModelSerializer[ApiToken]):
    """A token without its text, which is told only once."""

    class Meta:
        model = ApiToken
        fields = [
            "uid",
            "name",
            "hint",
            "scopes",
            "created_at",
            "expires_at",
            "last_used_at",
            "revoked_at",
        ]


class TokenTold(TokenOut):
    """A new token with its text. Keep it: nobody can show it again."""

    token = serializers.CharField()

    class Meta(TokenOut.Meta):
        fields = [*TokenOut.Meta.fields, "token"]


class TokenIn(Given):
    """A token for a script. Without `expires_at` it lives until it is revoked."""

    name = serializers.CharField(max_length=63)
    expires_at = serializers.DateTimeField(required=False, allow_null=True, default=None)
    scopes = serializers.ListField(
        child=serializers.ChoiceField(choices=list(SCOPES)),
        required=False,
        min_length=1,
        max_length=len(SCOPES),
        default=list(SCOPES),
    )


class TokenFilters(Filters):
    """Filters of the list."""

    living = serializers.BooleanField(required=False, default=None, allow_null=True)


class TokenDoor(Listed):
    """Issue, list and revoke one's own tokens; nobody sees anybody else's."""

    serializer_class = TokenOut
    filters = TokenFilters
    sorts = {"name": "name", "expires": "expires_at", "last_used": "last_used_at"}
    searched = ("name",)
    queryset = ApiToken.objects.none()
    told_once = ("token",)
    takes = {"create": TokenIn}
    gives = {"create": (201, TokenTold), "destroy": (204, None)}

    def rows(self) -> QuerySet[ApiToken]:
        """The caller's own."""
        return token_list(user=self.user)

    def narrowed(self, rows: QuerySet[ApiToken], **asked: Any) -> QuerySet[ApiToken]:
        """Living or revoked ones."""
        living = asked.get("living")
        return rows if living is None else rows.filter(revoked_at__isnull=living)

    def create(self, request: Request) -> Response:
        """Issue a token. It may neither do more nor live longer than the token that asks."""
        given = self.taken()
        asking = request.auth if isinstance(request.auth, ApiToken) else None
        if asking is not None and set(given["scopes"]) - set(asking.scopes):
            raise serializers.ValidationError({"scopes": [_("Wider than the token in use.")]})
        end = asking.expires_at if asking is not None else None
        if end is not None and (given["expires_at"] is None or given["expires_at"] > end):
            raise serializers.ValidationError({"expires_at": [_("Later than the token in use.")]})
        token, plain = token_issue(
            user=self.user,
            name=given["name"],
            expires=given["expires_at"],
            scopes=given["scopes"],
            actor=self.actor,
        )
        token.token = plain  # type: ignore[attr-defined]
        return self.said(token)

    def destroy(self, request: Request, uid: str) -> Response:
        """Revoke a token for good."""
        token_revoke(token=self.one(), actor=self.actor)
        return Response(status=204)
