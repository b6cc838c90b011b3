"""Service accounts of projects, and their tokens."""

from typing import Any

from django.db.models import QuerySet
from django.utils.translation import gettext as _
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from pool.models import User
from pool.rules.tenants import ACCOUNT_ROLES
from pool.selectors.people.invited import account_list
from pool.services.people.accounts import account_create
from pool.services.users import user_disable, user_enable
from portal.access.roles import Verb
from portal.access.tokens import token_issue, token_list, token_revoke
from portal.api.door import Listed
from portal.api.fields import Filters, Given, Nothing
from portal.api.v1.references import project_named
from portal.api.v1.tokens import TokenIn, TokenOut, TokenTold
from portal.models import ApiToken


class AccountOut(serializers.ModelSerializer[User]):
    """A service account: no login, acts by tokens, belongs to one project."""

    project = serializers.CharField(source="service_project.slug")
    active = serializers.BooleanField(source="is_active")

    class Meta:
        model = User
        fields = ["uid", "username", "display_name", "project", "active", "date_joined"]


class AccountIn(Given):
    """A new service account. `viewer` reads; `member` runs work and asks for more."""

    project = serializers.SlugField(max_length=63)
    username = serializers.CharField(max_length=150)
    display_name = serializers.CharField(max_length=120, required=False, allow_blank=True)
    role = serializers.ChoiceField(choices=list(ACCOUNT_ROLES), required=False, default="member")


class RevokeIn(Given):
    """The token to revoke."""

    token = serializers.CharField(max_length=64)


class AccountFilters(Filters):
    """Filters of the list."""

    project = serializers.SlugField(max_length=63, required=False)


class AccountDoor(Listed):
    """Service accounts of the caller's projects; who leads a project manages them."""

    serializer_class = AccountOut
    filters = AccountFilters
    sorts = {"username": "username"}
    searched = ("username",)
    queryset = User.objects.none()
    told_once = ("token",)
    takes = {
        "create": AccountIn,
        "disable": Nothing,
        "enable": Nothing,
        "issue": TokenIn,
        "revoke": RevokeIn,
    }
    gives = {
        "create": (201, AccountOut),
        "tokens": (200, TokenOut),
        "issue": (201, TokenTold),
        "revoke": (200, TokenOut),
    }

    def rows(self) -> QuerySet[User]:
        """Of the caller's own projects."""
        return account_list(standing=self.standing)

    def narrowed(self, rows: QuerySet[User], **asked: Any) -> QuerySet[User]:
        """By project."""
        return rows.filter(**{f"service_{name}__slug": value for name, value in asked.items()})

    def create(self, request: Request) -> Response:
        """A new service account in a project."""
        given = self.taken()
        project = project_named(self.standing, given.pop("project"))
        self.allow(Verb.ACCOUNT_MANAGE, project)
        return self.said(account_create(project=project, actor=self.actor, **given))

    @action(detail=True, methods=["post"])
    def disable(self, request: Request, uid: str) -> Response:
        """Every token of it stops working; what it runs goes on."""
        account = self._managed()
        self.taken()
        return self.said(user_disable(user=account, actor=self.actor))

    @action(detail=True, methods=["post"])
    def enable(self, request: Request, uid: str) -> Response:
        """Its tokens work again."""
        account = self._managed()
        self.taken()
        return self.said(user_enable(user=account, actor=self.actor))

    @action(detail=True, methods=["get"])
    def tokens(self, request: Request, uid: str) -> Response:
        """Its tokens, newest first, without their texts; at most 50 live."""
        rows = token_list(user=self._managed())[:200]
        shape = TokenOut(rows, many=True, context=self.get_serializer_context())
        return Response({"results": shape.data})

    @action(detail=True, methods=["post"])
    def issue(self, request: Request, uid: str) -> Response:
        """Issue a token that acts as the account. Its text is told once."""
        account = self._managed()
        given = self.taken()
        asking = request.auth if isinstance(request.auth, ApiToken) else None
        if asking is not None and set(given["scopes"]) - set(asking.scopes):
            raise serializers.ValidationError({"scopes": [_("Wider than the token in use.")]})
        end = asking.expires_at if asking is not None else None
        if end is not None and (given["expires_at"] is None or given["expires_at"] > end):
            raise serializers.ValidationError({"expires_at": [_("Later than the token in use.")]})
        token, plain = token_issue(
            user=account,
            name=given["name"],
            expires=given["expires_at"],
            scopes=given["scopes"],
            actor=self.actor,
        )
        token.token = plain  # type: ignore[attr-defined]
        return self.said(token)

    @action(detail=True, methods=["post"])
    def revoke(self, request: Request, uid: str) -> Response:
        """Revoke one of its tokens for good."""
        named = self._managed(), self.taken()["token"]
        found = token_list(user=named[0]).filter(uid=named[1]).first()
        if found is None:
            raise serializers.ValidationError({"token": [_("No such token.")]})
        return self.said(token_revoke(token=found, actor=self.actor))

    def _managed(self) -> User:
        account: User = self.one()
        self.allow(Verb.ACCOUNT_MANAGE, account.service_project)
        return account
