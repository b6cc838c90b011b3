"""The form of a request as the text that REST takes, YAML or JSON, and filled in from a text."""

import json
import shlex
from collections.abc import Mapping
from typing import Any

import yaml
from django.utils.translation import gettext as _
from rest_framework.exceptions import ValidationError

from pool.errors import Invalid, PoolError
from pool.models.templates import TemplateVersion
from pool.rules.needs import changed, from_mapping, merged, to_mapping
from pool.rules.problems import Problems
from pool.selectors.memberships import Standing
from pool.selectors.partitions import partition_list
from pool.selectors.templates import usable_templates
from pool.services.imports.reading import Unreadable, document
from portal.api.v1.requests import RequestIn
from portal.pages.catalogue.fields import LINES
from portal.pages.need_forms import as_filled_in, said_by

MOST_TEXT = 20_000
PLAIN = ("project", "copies", "title", "purpose", "starts_at", "environment", "image", "partitions")


def words_of(form: Any) -> dict[str, Any]:
    """What a valid form asks for, in the words of REST; what goes without saying is left out."""
    data = form.cleaned_data
    given = form.given
    said = {
        "project": data["project"].slug,
        "template": data["template"],
        "duration_seconds": form.seconds,
        "copies": data["copies"],
        "title": data["title"],
        "purpose": data["purpose"],
        "need": form.overrides,
        "partitions": [one.slug for one in form.places],
        "lease_kind": "reserved" if form.reserved else "",
        "starts_at": data["starts_at"].isoformat() if data.get("starts_at") else "",
        "environment": given.environment,
        "image": data["image"],
        "storage": [{"storage": one.storage, "at": one.at} for one in given.mounts],
        "secrets": [
            {"secret": one.secret, "name": one.name, "form": str(one.form)} for one in given.secrets
        ],
    }
    return {name: value for name, value in said.items() if value not in ("", [], {}, None)}


def as_yaml(form: Any) -> str:
    """The text to keep, to share, to fill the form in with again."""
    return yaml.safe_dump(words_of(form), sort_keys=False, allow_unicode=True, width=100)


def as_rest(form: Any) -> str:
    """One line for a shell that asks for the same."""
    sent = shlex.quote(json.dumps(words_of(form), ensure_ascii=False))
    headers = "-H 'Authorization: Bearer '\"$TOKEN\" -H 'Content-Type: application/json'"
    return f'curl -X POST "$URL/api/v1/requests/" {headers} -d {sent}'


def asked_by(data: Mapping[str, Any]) -> dict[str, Any]:
    """What the fields of a request ask for: size, one way to meet it, and isolation."""
    said = said_by(data)
    place, label, mode = (data.get("only") or "::").split(":")
    if place:
        said |= {"labels": [label], "modes": [mode]}
    if data.get("apart") and not said.get("whole"):
        said["isolation"] = "hardware"
    return said


def filled_from(text: str, *, standing: Standing) -> dict[str, Any]:
    """The fields of the form that say what the text says, all of it.

    Raises:
        Invalid: it is no YAML or JSON, REST would not take it, or the form has no field for it.
    """
    said = _read(text)
    body = RequestIn(data=said)
    try:
        body.is_valid(raise_exception=True)
    except ValidationError as wrong:
        raise Invalid(text=_told(wrong.detail)) from wrong
    words = dict(body.validated_data)
    version = _version(str(words["template"]), standing)
    need = words.get("need") or {}
    try:
        whole = to_mapping(merged(from_mapping(version.need), need))
    except (Problems, PoolError) as wrong:
        raise Invalid(text=str(wrong)) from wrong
    places = _places(words, standing)
    found = {name: words[name] for name in PLAIN if words.get(name)}
    sized = as_filled_in(whole, version) | {
        "apart": whole.get("isolation") == "hardware" and not whole.get("whole"),
        "only": _one_way(whole, version, places),
    }
    _all_of(whole, sized, version, set(changed({}, need)))
    return {
        **found,
        **sized,
        "time_value": words["duration_seconds"],
        "kind": words["lease_kind"],
        **_used(words),
    }


def _read(text: str) -> dict[str, Any]:
    try:
        said = document(text, most=MOST_TEXT)
    except Unreadable as refused:
        line = _("Line %(n)d cannot be read.") % {"n": refused.wrong.line or 1}
        raise Invalid(text=f"{line} {refused.wrong.text}") from refused
    if not isinstance(said, dict):
        raise Invalid(text=_("The words of a request are needed, as the page shows them."))
    return {
        str(name): value.isoformat() if hasattr(value, "isoformat") else value
        for name, value in said.items()
    }


def _places(words: dict[str, Any], standing: Standing) -> list[str]:
    """The partitions it names; one that the form cannot offer would be lost without a word."""
    asked = list(words["partitions"])
    known = partition_list(standing=standing).filter(slug__in=asked).values_list("slug", flat=True)
    strange = sorted(set(asked) - set(known))
    if strange:
        raise Invalid(text=_("No such partition: %(names)s.") % {"names": ", ".join(strange)[:80]})
    return asked


def _one_way(whole: Mapping[str, Any], version: TemplateVersion, places: list[str]) -> str:
    """The one way to meet the need that the text keeps to, as the form says it."""
    ways = ("labels", "modes")
    given = [whole.get(name) or [] for name in ways]
    own = [version.need.get(name) or [] for name in ways]
    if given == own or any(len(one) != 1 for one in (*given, places)):
        return ""
    (label,), (mode,) = given
    return "" if ":" in label else f"{places[0]}:{label}:{mode}"


def _all_of(
    whole: dict[str, Any], fields: dict[str, Any], version: TemplateVersion, words: set[str]
) -> None:
    """Hold that the fields say the whole need again: what has no field is not dropped silently.

    It is told in the `words` of the text, where it is one of them.
    """
    try:
        again = to_mapping(merged(from_mapping(version.need), asked_by(fields)))
    except Problems:
        again = {}
    lost = {name for name in {*whole, *again} if whole.get(name) != again.get(name)}
    if lost:
        said = _("The form has no field for this: %(names)s. Use REST.")
        raise Invalid(text=said % {"names": ", ".join(sorted(lost & words or lost))})


def _version(slug: str, standing: Standing) -> TemplateVersion:
    for one in usable_templates(standing=standing):
        if one.template.slug == slug:
            return one
    raise Invalid(text=_("template: there is none of this name that you may use."))


def _used(words: dict[str, Any]) -> dict[str, Any]:
    """The lines of storage and secrets; more than the form has are left to scripts."""
    mounts, secrets = words.get("storage") or [], words.get("secrets") or []
    if max(len(mounts), len(secrets)) > len(LINES):
        raise Invalid(text=_("The form has %(n)d lines of each: use REST.") % {"n": len(LINES)})
    found: dict[str, Any] = {}
    for n, one in zip(LINES, mounts, strict=False):
        found |= {f"storage_{n}": one["storage"], f"storage_{n}_at": one["at"]}
    for n, one in zip(LINES, secrets, strict=False):
        found |= {f"secret_{n}": one["secret"], f"secret_{n}_form": one["form"]}
        found[f"secret_{n}_name"] = one["name"]
    return found


def _told(detail: Any) -> str:
    """What REST says is wrong, in one line."""
    if isinstance(detail, dict):
        return "; ".join(f"{name}: {_told(one)}" for name, one in detail.items())
    return " ".join(map(_told, detail)) if isinstance(detail, list) else str(detail)
