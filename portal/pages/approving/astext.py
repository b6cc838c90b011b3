"""The form of a request as the text that REST takes, YAML or JSON, and filled in from a text."""

import json
import shlex
from typing import Any

import yaml
from django.utils.translation import gettext as _
from rest_framework.exceptions import ValidationError

from pool.errors import Invalid, PoolError
from pool.models.templates import TemplateVersion
from pool.rules.needs import from_mapping, merged, to_mapping
from pool.rules.problems import Problems
from pool.selectors.memberships import Standing
from pool.selectors.templates import usable_templates
from portal.api.v1.requests import RequestIn
from portal.pages.catalogue.fields import LINES
from portal.pages.need_forms import as_filled_in

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


def filled_from(text: str, *, standing: Standing) -> dict[str, Any]:
    """The fields of the form that say what the text says.

    Raises:
        Invalid: it is no YAML or JSON, or REST would not take it.
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
    found = {name: words[name] for name in PLAIN if words.get(name)}
    return {
        **as_filled_in(whole, version),
        **found,
        "time_value": words["duration_seconds"],
        "kind": words["lease_kind"],
        "apart": whole.get("isolation") == "hardware",
        **_used(words),
    }


def _read(text: str) -> dict[str, Any]:
    try:
        said = yaml.safe_load(text[: MOST_TEXT + 1]) if len(text) <= MOST_TEXT else None
    except (yaml.YAMLError, ValueError, RecursionError) as wrong:
        mark = getattr(wrong, "problem_mark", None)
        line = mark.line + 1 if mark is not None else 1
        raise Invalid(text=_("Line %(n)d cannot be read.") % {"n": line}) from wrong
    if not isinstance(said, dict):
        raise Invalid(text=_("The words of a request are needed, as the page shows them."))
    return {
        str(name): value.isoformat() if hasattr(value, "isoformat") else value
        for name, value in said.items()
    }


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
