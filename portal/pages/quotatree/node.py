"""One tenant of the tree: its rows, who may change them, their history, what is planned."""

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _

from pool.errors import Forbidden, NotYours, PoolError
from pool.events import Actor
from pool.lifecycle.roles import QuotaUnit
from pool.models import Organization, Project, Quota, User
from pool.selectors.memberships import Standing
from pool.selectors.quotas import quota_list
from pool.selectors.quotatree.history import planned_list, quota_history
from pool.selectors.tenants import organization_list, project_list
from pool.services.quotatree.undo import quotas_undo, undo_lines
from portal.access.dealing import may_set
from portal.access.guards import anywhere, found
from portal.access.roles import Verb
from portal.pages.htmx import HtmxRequest, go, page, refuse_unless

PAGE = "pages/quotatree/node.html"


@page("GET")
def detail(request: HtmxRequest, key: str) -> HttpResponse:
    """Every row of the tenant, in all partitions and units, with what became of them."""
    refuse_unless(anywhere(request.standing, Verb.QUOTA_SEE))
    tenant, user = tenant_of(request.standing, key)
    rows = list(_rows(request.standing, tenant, user))
    planned = planned_list(standing=request.standing).filter(**place(tenant, user))
    names = {f"quota:{row.uid}": row for row in rows}
    context: dict[str, Any] = {
        "key": key,
        "tenant": tenant,
        "member": user,
        "rows": rows,
        "history": [(one, names.get(one.subject)) for one in quota_history(rows=rows)],
        "planned": planned[:20],
        "changes": _who(tenant, user),
        "edits": may_set(request.standing, tenant, "limit"),
        "back": urlencode({k: str(v) for k, v in request.GET.items() if k in _KEPT}),
    }
    return render(request, PAGE, context)


_KEPT = ("partition", "unit", "model", "open")


@page("POST")
def undo(request: HtmxRequest, change: str) -> HttpResponse:
    """Take a change back: a new change, with a reason of its own."""
    lines = undo_lines(change=change)
    for line in lines:
        if not may_set(request.standing, line.tenant, line.kind):
            raise Forbidden if _seen(request.standing, line.tenant) else NotYours
    back = reverse("quota-node", args=[_key(lines[0].tenant, lines[0].user)])
    try:
        quotas_undo(
            change=change,
            actor=Actor.of(request.user),
            reason=request.POST.get("reason", "").strip() or _("taken back"),
        )
    except PoolError as refused:
        messages.warning(request, str(refused))
    else:
        messages.success(request, _("Taken back, as a new change."))
    return go(request, back)


def tenant_of(standing: Standing, key: str) -> tuple[Organization | Project, User | None]:
    """The tenant and the member that a key of the tree names.

    Raises:
        NotYours: there is none, or it is not the person's to know.
    """
    home, _mark, member = key.partition("~")
    tenant: Organization | Project
    if home.startswith("org-"):
        tenant = found(organization_list(standing=standing), home)
    else:
        tenant = found(project_list(standing=standing), home)
    if not member:
        return tenant, None
    if isinstance(tenant, Organization):
        raise NotYours
    user = User.objects.filter(uid=member).first() if member.isprintable() else None
    if user is None or not _belongs(tenant, user):
        raise NotYours
    return tenant, user


def place(tenant: Organization | Project, user: User | None) -> dict[str, Any]:
    """The columns that name the tenant."""
    if isinstance(tenant, Organization):
        return {"organization": tenant}
    return {"project": tenant, "user": user}


def _belongs(project: Project, user: User) -> bool:
    return (
        user.memberships.filter(project=project).exists()
        or Quota.objects.filter(project=project, user=user).exists()
    )


def _rows(standing: Standing, tenant: Organization | Project, user: User | None) -> Any:
    rows = quota_list(standing=standing).filter(**place(tenant, user))
    order = {str(unit): number for number, unit in enumerate(QuotaUnit)}
    return sorted(rows, key=lambda r: (r.partition.rank, order[r.unit], r.card_model, r.kind))


def _seen(standing: Standing, tenant: Organization | Project) -> bool:
    rows = organization_list if isinstance(tenant, Organization) else project_list
    return rows(standing=standing).filter(pk=tenant.pk).exists()


def _key(tenant: Organization | Project, user: User | None) -> str:
    return f"{tenant.uid}~{user.uid}" if user else str(tenant.uid)


def _who(tenant: Organization | Project, user: User | None) -> str:
    if isinstance(tenant, Organization):
        return _("A platform admin changes what an organization may have.")
    if user is not None:
        return _("The organization's admin or a platform admin changes a member's limit.")
    return _(
        "The organization's admin deals out limits and allowances; guarantees are the platform's."
    )
