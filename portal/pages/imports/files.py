"""Files of the configuration: what one would do is shown line by line before it is loaded."""

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _

from pool.clock import now
from pool.errors import NotYours
from pool.events import Actor
from pool.services.imports.load import Loaded, load, written
from pool.services.imports.reading import MOST_BYTES
from portal.access.guards import may
from portal.access.roles import Verb
from portal.configuration import SECTIONS, sections_named
from portal.pages.htmx import HtmxRequest, go, page, refuse_unless

PAGE = "pages/imports/index.html"
SHOWN = 200


@page("GET", "POST")
def index(request: HtmxRequest) -> HttpResponse:
    """A form for a file; a POST shows what it would do, or (with `keep`) loads it."""
    refuse_unless(may(request.standing, Verb.ORGANIZATION_MANAGE))
    if request.method != "POST":
        return render(request, PAGE, _context(None, "", "yaml", ""))
    section = str(request.POST.get("section", ""))
    text, shape, error = _given(request)
    if shape == "csv" and not section:
        error = error or _("Say which section a CSV holds.")
    if error:
        context = _context(None, text, shape, section) | {"error": error}
        return render(request, PAGE, context, status=422)
    keep = request.POST.get("keep") == "yes"
    found = load(
        text,
        shape=shape,
        section=section,
        sections=SECTIONS,
        actor=Actor.of(request.user),
        keep=keep,
    )
    if found.kept:
        told = {"new": found.count("new"), "changed": found.count("changed")}
        messages.success(request, _("Loaded: %(new)d new, %(changed)d changed.") % told)
        return go(request, reverse("imports"))
    status = 422 if found.wrong else 200
    return render(request, PAGE, _context(found, text, shape, section), status=status)


@page("GET")
def download(request: HtmxRequest) -> HttpResponse:
    """The sections that the address names, as a file that loads without a change."""
    refuse_unless(may(request.standing, Verb.ORGANIZATION_MANAGE))
    shape = "csv" if request.GET.get("format") == "csv" else "yaml"
    try:
        chosen = sections_named(request.GET.get("sections", ""))
    except LookupError as unknown:
        raise NotYours from unknown
    if shape == "csv" and len(chosen) != 1:
        raise NotYours
    name = chosen[0].name if len(chosen) == 1 else "configuration"
    kind = "text/csv" if shape == "csv" else "application/yaml"
    answer = HttpResponse(
        written(shape=shape, sections=chosen), content_type=f"{kind}; charset=utf-8"
    )
    answer["Content-Disposition"] = f'attachment; filename="{name}-{now():%Y-%m-%d}.{shape}"'
    return answer


def _given(request: HtmxRequest) -> tuple[str, str, str]:
    """The text, its shape by the name or the choice, and what is wrong with it as a file."""
    shape = "csv" if request.POST.get("shape") == "csv" else "yaml"
    upload = request.FILES.get("file")
    if upload is None:
        text = str(request.POST.get("text", ""))
        return text, shape, "" if text.strip() else _("Choose a file, or paste its text.")
    if isinstance(upload, list) or (upload.size or 0) > MOST_BYTES:
        return "", shape, _("A file of at most %(n)s MiB is possible.") % {"n": MOST_BYTES >> 20}
    if (upload.name or "").lower().endswith(".csv"):
        shape = "csv"
    elif (upload.name or "").lower().endswith((".yaml", ".yml")):
        shape = "yaml"
    try:
        return upload.read(MOST_BYTES + 1).decode("utf-8-sig"), shape, ""
    except UnicodeDecodeError:
        return "", shape, _("The file is not UTF-8 text.")


def _context(found: Loaded | None, text: str, shape: str, section: str) -> dict[str, Any]:
    context: dict[str, Any] = {
        "sections": [one.name for one in SECTIONS],
        "section": section,
        "shape": shape,
        "text": text,
        "found": found,
    }
    if found is not None:
        moving = [one for one in found.steps if one.what != "same"]
        context |= {
            "moving": moving[:SHOWN],
            "more": max(0, len(moving) - SHOWN),
            "wrong": found.wrong[:SHOWN],
            "new": found.count("new"),
            "changed": found.count("changed"),
            "same": found.count("same"),
            "ready": bool(moving) and not found.wrong,
        }
    return context
