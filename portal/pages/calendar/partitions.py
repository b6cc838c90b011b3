"""Partitions: what each offers to whom and how it places; changed with a reason, taken back."""

from typing import Any

from django.contrib import messages
from django.db.models import Count
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _

from pool.errors import Invalid, PoolError
from pool.events import Actor
from pool.models.partitions import Partition
from pool.selectors.calendar.policies import history
from pool.selectors.partitions import partition_list
from pool.services.partitions import partition_change
from portal.access.guards import found, may
from portal.access.roles import Verb
from portal.pages.calendar.partition_forms import (
    CeilingLines,
    PartitionForm,
    ceiling_lines,
    ceilings_said,
)
from portal.pages.forms import take_refusal
from portal.pages.htmx import HtmxRequest, go, page, refuse_unless

PAGE = "pages/partitions/detail.html"


@page("GET")
def index(request: HtmxRequest) -> HttpResponse:
    """Those that the reader may use."""
    mine = partition_list(standing=request.standing)
    rows = Partition.objects.filter(pk__in=mine.values("pk")).annotate(count=Count("cards"))
    context = {"partitions": rows.order_by("rank", "slug"), "manages": _manages(request)}
    return render(request, "pages/partitions/index.html", context)


@page("GET", "POST")
def detail(request: HtmxRequest, uid: str) -> HttpResponse:
    """One partition; a POST by who manages it changes it."""
    row = found(partition_list(standing=request.standing), uid)
    if request.method == "POST":
        refuse_unless(_manages(request))
        return _changed(request, row)
    return render(request, PAGE, _context(request, row))


def _changed(request: HtmxRequest, row: Partition) -> HttpResponse:
    form = PartitionForm(request.POST)
    lines = CeilingLines(request.POST, prefix="ceiling")
    if form.is_valid() and lines.is_valid():
        try:
            partition_change(
                partition=row,
                actor=Actor.of(request.user),
                user=request.user,
                reason=form.cleaned_data["reason"],
                ceilings=ceilings_said(lines),
                **form.words,
            )
        except PoolError as refused:
            _take(form, refused)
        else:
            messages.success(request, _("Changed; the next round goes by it."))
            return go(request, reverse("partition", args=[row.uid]))
    context = _context(request, row) | {"form": form, "lines": lines}
    return render(request, PAGE, context, status=422)


def _take(form: PartitionForm, refused: PoolError) -> None:
    """A refusal of the ceilings stands above the form: their lines have no field of that name."""
    if isinstance(refused, Invalid) and set(refused.detail) == {"ceilings"}:
        for said in refused.detail["ceilings"]:
            form.add_error(None, said)
        return
    take_refusal(form, refused)


def _context(request: HtmxRequest, row: Partition) -> dict[str, Any]:
    manages = _manages(request)
    context: dict[str, Any] = {
        "one": row,
        "manages": manages,
        "kinds": row.cards.exclude(state="retired").values("label").annotate(n=Count("pk")),
        "ceilings": ceiling_lines(row.ceilings),
    }
    if manages:
        context["form"] = PartitionForm(initial=PartitionForm.start(row))
        context["lines"] = CeilingLines(initial=ceiling_lines(row.ceilings), prefix="ceiling")
        context["steps"] = history(partition=row, most=20)
    return context


def _manages(request: HtmxRequest) -> bool:
    return may(request.standing, Verb.PARTITION_MANAGE)
