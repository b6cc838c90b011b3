"""What the pages of one organization and one project show."""

from typing import Any

from django.db.models import Q, QuerySet

from pool.clock import now
from pool.lifecycle.leases import LeaseState
from pool.lifecycle.roles import QuotaKind, Role
from pool.lifecycle.workloads import OPEN
from pool.models import Invitation, Lease, Membership, Organization, Project, Quota, User, Workload
from pool.selectors.memberships import memberships_seen
from pool.selectors.people.invited import account_list, invitation_list
from pool.selectors.people.living import project_living
from pool.selectors.tenants import project_list
from portal.access.guards import may
from portal.access.roles import Verb
from portal.api.door import with_text
from portal.api.v1.memberships import MembershipDoor
from portal.pages.htmx import HtmxRequest
from portal.pages.lists import in_order, list_address, text_asked
from portal.pages.people.place_forms import (
    AccountForm,
    InviteForm,
    MemberForm,
    NewProjectForm,
    role_choices,
)
from portal.pages.shell import ROLES

SHOWN = 20
"""Workloads and leases on the page of a project; the rest is one click away."""


def of_organization(request: HtmxRequest, row: Organization) -> dict[str, Any]:
    """Its projects and people, and what the reader may do."""
    standing = request.standing
    members = memberships_seen(standing=standing).filter(organization=row)
    projects = project_list(standing=standing).filter(organization=row)
    manages = may(standing, Verb.MEMBER_MANAGE, row)
    return {
        "organization": row,
        "projects": list(projects.order_by("archived_at", "slug")),
        **people(request, members, organization=row.slug),
        "invitations": invited(request, Q(organization=row)) if manages else [],
        "manages": manages,
        "changes": may(standing, Verb.ORGANIZATION_CHANGE, row),
        "opens": may(standing, Verb.PROJECT_MANAGE, row),
        "platform": may(standing, Verb.ORGANIZATION_MANAGE, row),
        "new_project": NewProjectForm(),
        "member_form": MemberForm(in_project=False, auto_id="member_%s"),
        "invite_form": InviteForm(in_project=False, auto_id="invite_%s"),
        "roles": role_choices(in_project=False),
        "kind": "organization",
        "place": row,
    }


def of_project(request: HtmxRequest, row: Project) -> dict[str, Any]:
    """Its people, allowances, leases and live work, and what the reader may do."""
    standing = request.standing
    manages = may(standing, Verb.MEMBER_MANAGE, row)
    members = memberships_seen(standing=standing).filter(project=row)
    quotas = Quota.objects.filter(project=row, user=None).select_related("partition")
    leases = Lease.objects.filter(project=row).exclude(state=LeaseState.ENDED)
    work = Workload.objects.filter(project=row, state__in=sorted(OPEN), parent=None)
    accounts = account_list(standing=standing).filter(service_project=row)
    return {
        "project": row,
        **people(request, members, project=row.slug),
        "quotas": [(one, KINDS[QuotaKind(one.kind)]) for one in quotas.order_by("kind", "pk")],
        "leases": list(leases.select_related("template_version__template")[:SHOWN]),
        "work": list(work.select_related("owner").order_by("-pk")[:SHOWN]),
        "accounts": list(accounts.prefetch_related("api_tokens")) if manages else [],
        "invitations": invited(request, Q(project=row)) if manages else [],
        "living": project_living(project=row) if row.closing_since else None,
        "manages": manages,
        "opens": may(standing, Verb.PROJECT_MANAGE, row),
        "member_form": MemberForm(in_project=True, auto_id="member_%s"),
        "invite_form": InviteForm(in_project=True, auto_id="invite_%s"),
        "account_form": AccountForm(auto_id="account_%s"),
        "roles": role_choices(in_project=True),
        "now": now(),
        "kind": "project",
        "place": row,
    }


KINDS = {
    QuotaKind.LIMIT: "limit",
    QuotaKind.ALLOWANCE: "allowance",
    QuotaKind.ENTITLEMENT: "entitlement",
}


SORTS = {"name": "user__username", "role": "role"}
"""What the people of a place can be sorted by."""


def people(request: HtmxRequest, rows: QuerySet[Membership], **place: str) -> dict[str, Any]:
    """Memberships with the words of their roles, by name; service accounts are listed elsewhere.

    One page of them, with `q` only those with it in a name; `place` names it as REST does.
    """
    persons = rows.filter(user__service_project=None)
    text = text_asked(request)
    persons = with_text(persons, MembershipDoor.searched, text) if text else persons
    shown = in_order(request, persons, SORTS, usual="name")
    sorts = {"name": "user", "role": "role"}
    return {
        "people": [(one, ROLES[Role(one.role)]) for one in shown.rows],
        "page": shown,
        "text": text,
        "csv": list_address("memberships", request, sorts, service="false", search=text, **place),
    }


def invited(request: HtmxRequest, where: Q) -> list[tuple[Invitation, Any]]:
    """Open invitations with the words of their roles."""
    rows = invitation_list(standing=request.standing).filter(
        where, accepted_at=None, revoked_at=None, expires_at__gt=now()
    )
    return [(one, ROLES[one.role]) for one in rows]  # type: ignore[index]


def account_of(request: HtmxRequest, uid: str) -> User | None:
    """The service account, as far as the reader may know of it."""
    return account_list(standing=request.standing).filter(uid=uid).first()
