"""A new what-if: a period or a record, what is changed in it, and a name."""

from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _

from pool.clock import now
from pool.errors import Invalid
from pool.events import Actor
from pool.lifecycle.studies import StudyKind
from pool.models import Study, Trace
from pool.rules.whatif.changes import Known
from pool.selectors.rounds import wait_target_s
from pool.selectors.whatif.studies import (
    Reader,
    card_kinds,
    known_for,
    study_list,
    trace_list,
)
from pool.services.whatif.studies import MOST_MODELS, study_create
from pool.services.whatif.traces import trace_of_books
from portal.access.guards import found
from portal.pages.htmx import HtmxRequest, go, page
from portal.pages.whatif.copied import MOST_CARRIED, carried_said, typed, with_carried
from portal.pages.whatif.fields import changes_from_form, form_of, names_of
from portal.pages.whatif.reach import enter, home_of

PAGE = "pages/whatif/new.html"
USUAL_DAYS = 7
SEARCH_DAYS = 28
EVERY = "*"


@page("GET", "POST")
def new(request: HtmxRequest) -> HttpResponse:
    """The form; what was typed is never lost. `?record=` names recorded work, `?copy=` a what-if
    whose record and changes are the start.
    """
    enter(request.standing)
    copied = _copied(request)
    record = _record(request) or (copied.trace if copied is not None else None)
    if request.method != "POST":
        return render(request, PAGE, _context(request, record, copied, {}))
    try:
        made = _made(request, record)
    except Invalid as refused:
        told = {name: " ".join(lines) for name, lines in refused.detail.items()}
        return render(request, PAGE, _context(request, record, copied, told), status=422)
    return go(request, reverse("what-if", args=[made.uid]))


@page("POST")
def cards_needed(request: HtmxRequest) -> HttpResponse:
    """Look for the number of cards of one model, or of each, that keeps the wait short, over four
    weeks.
    """
    enter(request.standing)
    said = request.POST
    cards, model = _models(request, said.get("kind", ""))
    until = now().astimezone(UTC).replace(minute=0, second=0, microsecond=0)
    since = until - timedelta(days=SEARCH_DAYS)
    try:
        minutes = said.get("minutes", "")
        with transaction.atomic():
            trace = trace_of_books(
                since=since,
                until=until,
                user=request.user,
                organization=home_of(request.standing),
                actor=Actor.of(request.user),
            )
            made = study_create(
                name=_("How many %(model)s?") % {"model": model[:60]}
                if model
                else _("Which cards?"),
                trace=trace,
                changes={"cards": cards},
                known=known_for(standing=request.standing, trace=trace),
                user=request.user,
                organization=trace.organization,
                actor=Actor.of(request.user),
                kind=StudyKind.CARDS,
                target_s=int(minutes) * 60 if _whole(minutes) else wait_target_s(),
            )
    except Invalid as refused:
        told = " ".join(line for lines in refused.detail.values() for line in lines)
        return render(request, "pages/whatif/_refused.html", {"told": told}, status=422)
    return go(request, reverse("what-if", args=[made.uid]))


def _models(request: HtmxRequest, word: str) -> tuple[list[dict[str, Any]], str]:
    """The partitions and models to search, and the name of a single one: `*` is those of which
    there are most.
    """
    place, _between, model = word.partition("|")
    if word != EVERY:
        return [{"partition": place, "model": model, "count": 0}], model
    kinds = sorted(card_kinds(standing=request.standing), key=lambda one: -one[3])[:MOST_MODELS]
    return [{"partition": one[0], "model": one[2], "count": 0} for one in kinds], ""


def _whole(word: str) -> bool:
    return word.isascii() and word.isdigit() and len(word) < 7


@transaction.atomic
def _made(request: HtmxRequest, record: Trace | None) -> Study:
    """The what-if that the form describes; a refused one leaves no record behind.

    Raises:
        Invalid: field by field.
    """
    who, home = Actor.of(request.user), home_of(request.standing)
    trace = record
    if trace is None:
        since, until = _span(request)
        trace = trace_of_books(
            since=since, until=until, user=request.user, organization=home, actor=who
        )
    return study_create(
        name=request.POST.get("name", ""),
        comment=request.POST.get("comment", ""),
        trace=trace,
        changes=with_carried(
            changes_from_form(request.POST), request.POST.getlist("carried")[:MOST_CARRIED]
        ),
        known=known_for(standing=request.standing, trace=trace),
        user=request.user,
        organization=home,
        actor=who,
    )


def _span(request: HtmxRequest) -> tuple[datetime, datetime]:
    try:
        first = date.fromisoformat(request.POST.get("since", ""))
        last = date.fromisoformat(request.POST.get("until", ""))
    except ValueError:
        raise Invalid(since=_("That is no date; write it as 2026-05-31.")) from None
    at = now().astimezone(UTC)
    end = datetime.combine(min(last, at.date()), time(), UTC) + timedelta(days=1)
    return datetime.combine(first, time(), UTC), min(end, at)


def _record(request: HtmxRequest) -> Trace | None:
    """The record that the address or the form names.

    Raises:
        NotYours: it is not the person's to know.
    """
    uid = request.POST.get("record") or request.GET.get("record", "")
    return found(trace_list(standing=request.standing), uid) if uid else None


def _copied(request: HtmxRequest) -> Study | None:
    uid = request.GET.get("copy", "")
    return found(study_list(standing=request.standing), uid) if uid else None


def _start(
    request: HtmxRequest, copied: Study | None, names: Known, fields: frozenset[str]
) -> tuple[dict[str, str], list[str], int]:
    """What stands in the fields, what is carried beside them, and how much is not taken over."""
    if request.method == "POST":
        return request.POST.dict(), request.POST.getlist("carried")[:MOST_CARRIED], 0
    if copied is None:
        return {}, [], 0
    changes, hidden = Reader.of(request.standing).changes(copied)
    return *typed(changes, names, fields), hidden


def _context(
    request: HtmxRequest, record: Trace | None, copied: Study | None, told: dict[str, str]
) -> dict[str, Any]:
    today = now().astimezone(UTC).date()
    names = known_for(standing=request.standing, trace=record or Trace(source="books"))
    kinds = card_kinds(standing=request.standing)
    start, carried, hidden = _start(request, copied, names, names_of(form_of(names, kinds, {})))
    title = _("%(name)s (copy)") % {"name": copied.name[:70]} if copied is not None else ""
    records = trace_list(standing=request.standing).filter(source="file").order_by("-pk")[:50]
    return {
        "record": record,
        "records": records,
        "since": request.POST.get("since") or (today - timedelta(days=USUAL_DAYS)).isoformat(),
        "until": request.POST.get("until") or (today - timedelta(days=1)).isoformat(),
        "name": request.POST.get("name", title),
        "comment": request.POST.get("comment", copied.comment if copied is not None else ""),
        "form": form_of(names, kinds, start),
        "carried": carried_said(carried),
        "hidden": hidden,
        "told": told,
        "copied": copied,
    }
