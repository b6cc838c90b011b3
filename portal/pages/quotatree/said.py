"""Numbers of the tree as people write them, and what a form says otherwise than the tree."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from pool.lifecycle.roles import QuotaKind, QuotaUnit
from pool.selectors.memberships import Standing
from pool.selectors.quotatree.tree import Node, Tree
from pool.services.quotas import ANY, MOST, QuotaLine
from portal.access.dealing import may_set

FACTORS: dict[str, int] = {
    QuotaUnit.CARDS_MICRO: 1_000_000,
    QuotaUnit.MEMORY_MIB: 1024,
    QuotaUnit.COMPUTE_MILLI: 1000,
    QuotaUnit.CARD_SECONDS: 3600,
    QuotaUnit.CPU_MILLI: 1000,
    QuotaUnit.RAM_MIB: 1024,
    QuotaUnit.DISK_MIB: 1024,
    QuotaUnit.WORKLOADS: 1,
    QuotaUnit.CARDS_EACH: 1_000_000,
}
"""How many of a unit make one of what people write."""

UNIT_WORDS = {
    QuotaUnit.CARDS_MICRO: gettext_lazy("cards"),
    QuotaUnit.MEMORY_MIB: gettext_lazy("GiB of card memory"),
    QuotaUnit.COMPUTE_MILLI: gettext_lazy("cards' worth of compute"),
    QuotaUnit.CARD_SECONDS: gettext_lazy("card-hours a month"),
    QuotaUnit.CPU_MILLI: gettext_lazy("CPU cores"),
    QuotaUnit.RAM_MIB: gettext_lazy("GiB of host memory"),
    QuotaUnit.DISK_MIB: gettext_lazy("GiB of disk"),
    QuotaUnit.WORKLOADS: gettext_lazy("workloads at once"),
    QuotaUnit.CARDS_EACH: gettext_lazy("cards for one workload"),
}

COLUMNS = (QuotaKind.ENTITLEMENT, QuotaKind.LIMIT, QuotaKind.ALLOWANCE)
"""Kinds in the order of the columns."""

LONGEST = 24
"""No number that people mean is longer, and one like 1e999999 is none."""

LIMIT_ONLY = frozenset({QuotaUnit.CARD_SECONDS, QuotaUnit.CARDS_EACH})
"""Units of which there is a limit, and neither a guarantee nor an allowance."""


def shown(value: int | None, unit: str) -> str:
    """A number as people write it into a field; empty where no row is."""
    if value is None:
        return ""
    text = f"{Decimal(value) / FACTORS[unit]:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def read(text: str, unit: str) -> int | None:
    """The number in the unit; None for nothing written.

    Raises:
        ValueError: it is no number, negative, or out of range.
    """
    plain = text.strip().replace(",", ".").replace(" ", "")
    if not plain:
        return None
    if len(plain) > LONGEST:
        raise ValueError(plain[:LONGEST])
    try:
        value = Decimal(plain) * FACTORS[unit]
        number = int(value.to_integral_value())
    except (ArithmeticError, ValueError) as wrong:
        raise ValueError(plain) from wrong
    if not 0 <= number <= MOST:
        raise ValueError(plain)
    return number


@dataclass(slots=True)
class Cell:
    """One field of the tree; `locked` where the reader may not change it."""

    kind: str
    name: str
    text: str
    was: str
    granted: str = ""
    locked: bool = True
    error: str = ""
    lend: "Cell | None" = None


@dataclass(slots=True)
class Said:
    """What a form says: the lines that differ from the tree, and what could not be read."""

    lines: list[QuotaLine] = field(default_factory=list)
    errors: dict[str, str] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)


def columns_of(unit: str) -> tuple[str, ...]:
    """The kinds of row that the unit has."""
    return (QuotaKind.LIMIT,) if unit in LIMIT_ONLY else COLUMNS


def cells(tree: Tree, node: Node, standing: Standing, said: Said | None = None) -> list[Cell]:
    """The fields of one node, filled with what was said, else with what is."""
    texts = said.texts if said else {}
    errors = said.errors if said else {}
    found = []
    for kind in columns_of(tree.unit):
        name = f"{kind}|{node.key}"
        was = shown(node.said(kind), tree.unit)
        fits = kind != QuotaKind.ALLOWANCE or (node.project is not None and node.user is None)
        cell = Cell(
            kind=kind,
            name=name,
            text=texts.get(name, was),
            was=was,
            locked=not fits or not may_set(standing, node.tenant, kind),
            error=errors.get(name, ""),
        )
        row = node.rows.get(kind)
        if row is not None and row.granted:
            cell.granted = shown(row.granted, tree.unit)
        if kind == QuotaKind.ENTITLEMENT and row is not None:
            lend = shown(row.lend_limit, tree.unit)
            name = f"lend|{node.key}"
            cell.lend = Cell(kind="lend", name=name, text=texts.get(name, lend), was=lend)
            cell.lend.locked, cell.lend.error = cell.locked, errors.get(name, "")
        found.append(cell)
    return found


def said_of(tree: Tree, given: Mapping[str, Any], standing: Standing) -> Said:
    """What the form says otherwise than it read; what the reader may not change is not read."""
    said = Said()
    for node in tree.nodes:
        for kind in columns_of(tree.unit):
            if may_set(standing, node.tenant, kind):
                _read_one(tree, node, kind, given, said)
    return said


def _read_one(tree: Tree, node: Node, kind: str, given: Mapping[str, Any], said: Said) -> None:
    name, lend_name = f"{kind}|{node.key}", f"lend|{node.key}"
    if name not in given:
        return
    was = str(given.get(f"was:{name}", shown(node.said(kind), tree.unit)))
    text, lend = str(given[name]), str(given.get(lend_name, ""))
    lends = kind == QuotaKind.ENTITLEMENT and lend_name in given
    lend_was = str(given.get(f"was:{lend_name}", "")) if lends else lend
    if text.strip() == was and (not lends or lend.strip() == lend_was):
        return
    said.texts[name] = text
    if lends:
        said.texts[lend_name] = lend
    try:
        limit = read(text, tree.unit)
    except ValueError:
        said.errors[name] = _("A number is needed, or nothing for no limit.")
        return
    try:
        lent = read(lend, tree.unit) if lends else ANY
    except ValueError:
        said.errors[lend_name] = _("A number is needed, or nothing for all of it.")
        return
    said.lines.append(
        QuotaLine(
            tenant=node.tenant,
            user=node.user,
            partition=tree.partition,
            unit=tree.unit,
            card_model=tree.card_model,
            kind=kind,
            limit=limit,
            lend=lent if limit is not None else ANY,
            expected=_expected(was, tree.unit),
        )
    )


def _expected(was: str, unit: str) -> int | None:
    try:
        return read(was, unit)
    except ValueError:
        return ANY
