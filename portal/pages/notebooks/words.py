"""Evidence of a verdict in words: which signal says what, with its number."""

from typing import Any

from django.utils.translation import gettext_lazy as _

from pool.models.notebooks.notebooks import Notebook

NAMES = {
    "kernel": _("Kernels"),
    "terminal": _("Terminals"),
    "input": _("Input"),
    "sm": _("SM use"),
    "net": _("Traffic to and from people"),
    "cpu": _("Processors"),
    "disk": _("Disk"),
    "jobs": _("Processes in terminals"),
    "memory": _("Card memory"),
}
UNITS = {
    "kernel": _("%(value)s executing"),
    "input": _("%(value)s s ago"),
    "sm": "%(value)s %%",
    "net": "%(value)s MiB/s",
    "cpu": _("%(value)s cores"),
    "disk": "%(value)s MiB/s",
    "jobs": "%(value)s",
    "memory": "%(value)s MiB",
}
SAYS = {True: _("moves"), False: _("quiet"), None: _("not known")}


def evidence_words(known: Notebook) -> list[dict[str, Any]]:
    """One line a signal, in the order in which they are looked at."""
    return [_line(one) for one in known.evidence]


def _line(one: dict[str, Any]) -> dict[str, Any]:
    value = one.get("value")
    unit = UNITS.get(one["signal"], "%(value)s")
    shown = "" if value is None else str(unit) % {"value": round(float(value), 2)}
    says = SAYS[one.get("moves")]
    return {
        "name": NAMES.get(one["signal"], one["signal"]),
        "value": shown,
        "says": says,
        "moves": one.get("moves"),
    }
