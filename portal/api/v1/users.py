"""People, in the hands of those who administer them."""

import secrets
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from pool.errors import Forbidden
from pool.lifecycle.roles import Role
from pool.models import Project, User
from pool.rules.tenants import OF_PROJECT
from pool.selectors.people.living import person_living
from pool.selectors.users import user_list
from pool.services.memberships import membership_add
from pool.services.users import KEPT, user_create, user_disable, user_edit, user_enable
from portal.access.leaving import heir_named, person_leave
from portal.access.places import manages_person
from portal.access.roles import Verb
from portal.api.door import Listed
from portal.api.fields import Filters, Given, Nothing
from portal.api.v1.references import project_named


class UserOut(serializers.ModelSerializer[User]):
    """A person or a service account. Roles are memberships."""

    active = serializers.BooleanField(source="is_active")

    class Meta:
        model = User
        fields = [
            "uid",
            "username",
            "display_name",
            "email",
            "active",
            "service_account",
            "language",
            "zone",
            "unix_account",
            "left_at",
            "winds_down_at",
            "example",
        ]


class UserTold(UserOut):
    """A new person. `password` is a random one, told once; null when there is none to tell."""

    password = serializers.CharField(allow_null=True)

    class Meta(UserOut.Meta):
        fields = [*UserOut.Meta.fields, "password"]


class UserIn(Given):
    """A new person. Without a password a random one is made; a service account has none.

    With `project` the person begins there in `role`; a platform admin may leave both out.
    """

    username = serializers.CharField(max_length=150)
    display_name = serializers.CharField(max_length=120, required=False, allow_blank=True)
    email = serializers.CharField(max_length=254, required=False, allow_blank=True)
    password = serializers.CharField(max_length=128, required=False, trim_whitespace=False)
    service_account = serializers.BooleanField(required=False, default=False)
    project = serializers.SlugField(max_length=63, required=False)
    role = serializers.ChoiceField(
        choices=sorted(r.value for r in OF_PROJECT), required=False, default=Role.MEMBER.value
    )

    def validate(self, given: dict[str, Any]) -> dict[str, Any]:
        """The whole.

        Raises:
            ValidationError: a service account was given a password.
        """
        if given["service_account"] and "password" in given:
            said = _("A service account has no password.")
            raise serializers.ValidationError({"password": [said]})
        return given


class UserChangedIn(Given):
    """What changes about a person. `unix_account` is the account that their jobs run under."""

    display_name = serializers.CharField(max_length=120, required=False, allow_blank=True)
    email = serializers.CharField(max_length=254, required=False, allow_blank=True)
    language = serializers.CharField(max_length=12, required=False, allow_blank=True)
    zone = serializers.CharField(max_length=64, required=False, allow_blank=True)
    unix_account = serializers.CharField(max_length=32, required=False, allow_blank=True)


class LeaveIn(Given):
    """Who inherits, and how long running work may go on: 0 stops it now, at most seven days."""

    heir = serializers.CharField(max_length=150, required=False)
    wind_down_seconds = serializers.IntegerField(
        min_value=0, max_value=604_800, required=False, default=86_400
    )


class LeavingOut(serializers.Serializer[Any]):
    """What letting this person go would touch."""

    workloads = serializers.IntegerField(help_text="waiting: cancelled at once")
    holding = serializers.IntegerField(help_text="running: stopped after the wind-down time")
    leases = serializers.IntegerField(help_text="go to the heir, or stay with their project")
    requests = serializers.IntegerField(help_text="pending: go to the heir, or are withdrawn")
    schedules = serializers.IntegerField(help_text="go to the heir, or pause")
    notebooks = serializers.IntegerField(help_text="resting, with files: go to the heir")


class UserFilters(Filters):
    """Filters of the list."""

    username = serializers.CharField(max_length=150, required=False)
    active = serializers.BooleanField(required=False, default=None, allow_null=True)


class UserDoor(Listed):
    """Everybody for a platform admin; for an organization's admin the people inside it."""

    serializer_class = UserOut
    filters = UserFilters
    sorts = {"username": "username", "display_name": "display_name"}
    searched = ("username", "display_name", "email")
    queryset = User.objects.none()
    told_once = ("password",)
    takes = {
        "create": UserIn,
        "partial_update": UserChangedIn,
        "disable": Nothing,
        "enable": Nothing,
        "leave": LeaveIn,
    }
    gives = {"create": (201, UserTold), "leaving": (200, LeavingOut)}

    def rows(self) -> QuerySet[User]:
        """Those whom the caller administers; nobody for all others."""
        return user_list(standing=self.standing)

    def narrowed(self, rows: QuerySet[User], **asked: Any) -> QuerySet[User]:
        """By name and whether they may log in."""
        if asked.get("active") is not None:
            rows = rows.filter(is_active=asked["active"])
        return rows.filter(username=asked["username"]) if "username" in asked else rows

    @transaction.atomic
    def create(self, request: Request) -> Response:
        """A new person, who may log in at once."""
        given = self.taken()
        slug, role = given.pop("project", None), given.pop("role")
        project: Project | None = project_named(self.standing, slug) if slug else None
        self.allow(Verb.USER_MANAGE, project)
        told = None
        if not given["service_account"] and "password" not in given:
            told = given["password"] = secrets.token_urlsafe(18)
        row = user_create(actor=self.actor, **given)
        if project is not None:
            membership_add(user=row, role=role, project=project, actor=self.actor)
        row.password = told  # type: ignore[assignment]
        return self.said(row)

    def partial_update(self, request: Request, uid: str) -> Response:
        """Change name, address, language, time zone or Unix account of a person."""
        person = self._managed()
        given = self.taken()
        if "unix_account" in given:
            self.allow(Verb.NODE_MANAGE)
        return self.said(user_edit(user=person, actor=self.actor, allowed=KEPT, **given))

    @action(detail=True, methods=["get"])
    def leaving(self, request: Request, uid: str) -> Response:
        """What letting this person go would touch."""
        return self.said(person_living(user=self._managed()))

    @action(detail=True, methods=["post"])
    def leave(self, request: Request, uid: str) -> Response:
        """Let a person go for good: login, tokens and roles end now, their work winds down."""
        person = self._managed()
        given = self.taken()
        named = given.pop("heir", None)
        heir = heir_named(self.standing, named) if named else None
        seconds = given["wind_down_seconds"]
        return self.said(person_leave(user=person, heir=heir, seconds=seconds, actor=self.actor))

    @action(detail=True, methods=["post"])
    def disable(self, request: Request, uid: str) -> Response:
        """No login and no token of this person works any more; their work stays."""
        person = self._managed()
        self.taken()
        return self.said(user_disable(user=person, actor=self.actor))

    @action(detail=True, methods=["post"])
    def enable(self, request: Request, uid: str) -> Response:
        """Take a person back, with the roles they had."""
        person = self._managed()
        self.taken()
        return self.said(user_enable(user=person, actor=self.actor))

    def _managed(self) -> User:
        """The person, when every role they hold is within the caller's reach."""
        person: User = self.one()
        if not manages_person(self.standing, person):
            raise Forbidden
        return person
