"""Counters against reality, and leases that stand unused: listed, repaired, let be."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _

from pool.errors import PoolError
from pool.events import Actor
from pool.models import QuotaDrift
from pool.selectors.quotatree.history import cutback_list, drift_list, unused_leases
from pool.services.quotatree.cutbacks import cutback_withdraw
from pool.services.quotatree.drift import drift_repair, drifts_swept
from portal.access.guards import found, may
from portal.access.roles import Verb
from portal.pages.htmx import HtmxRequest, go, page, refuse_unless
from portal.pages.lists import newest_first


@page("GET", "POST")
def drifts(request: HtmxRequest) -> HttpResponse:
    """The report; a POST looks now."""
    refuse_unless(may(request.standing, Verb.QUOTA_SET))
    if request.method == "POST":
        told = drifts_swept(actor=Actor.of(request.user))
        text = _("Looked at every row: %(seen)s stand wrong, %(repaired)s were repaired.")
        messages.success(request, text % {"seen": told.seen, "repaired": told.repaired})
        return go(request, reverse("quota-drifts"))
    context = {"page": newest_first(request, drift_list())}
    return render(request, "pages/quotatree/drifts.html", context)


@page("POST")
def repair(request: HtmxRequest, pk: int) -> HttpResponse:
    """Repair one row now, if it still stands as it was found."""
    refuse_unless(may(request.standing, Verb.QUOTA_SET))
    row = QuotaDrift.objects.filter(pk=pk).first()
    if row is not None and drift_repair(drift=row, actor=Actor.of(request.user)):
        messages.success(request, _("Repaired."))
    else:
        messages.warning(request, _("It does not stand as it was found any more. Look again."))
    return go(request, reverse("quota-drifts"))


@page("GET")
def unused(request: HtmxRequest) -> HttpResponse:
    """Leases nothing ran under for a day, and those that are cut back soon."""
    context = {
        "page": newest_first(request, unused_leases(standing=request.standing)),
        "notices": cutback_list(standing=request.standing)[:50],
        "manages": may(request.standing, Verb.QUOTA_SET),
    }
    return render(request, "pages/quotatree/unused.html", context)


@page("POST")
def withdraw(request: HtmxRequest, uid: str) -> HttpResponse:
    """Let one lease be."""
    row = found(cutback_list(standing=request.standing), uid)
    refuse_unless(may(request.standing, Verb.QUOTA_SET))
    reason = request.POST.get("reason", "").strip()[:200] or _("let be by an admin")
    try:
        cutback_withdraw(cutback=row, actor=Actor.of(request.user), reason=reason)
    except PoolError as refused:
        messages.warning(request, str(refused))
    else:
        messages.success(request, _("It keeps what it has."))
    return go(request, reverse("unused-leases"))
