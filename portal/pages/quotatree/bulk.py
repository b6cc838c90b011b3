"""Many rows at once: the ticked ones are set, raised, lowered or scaled; saved only afterwards."""

from collections.abc import Callable
from decimal import Decimal, InvalidOperation

from django.http import QueryDict
from django.utils.translation import gettext as _

from pool.selectors.memberships import Standing
from pool.selectors.quotatree.tree import Tree
from portal.access.dealing import may_set
from portal.pages.quotatree.said import LONGEST, Said, columns_of

DOES: dict[str, Callable[[Decimal, Decimal], Decimal]] = {
    "set": lambda was, by: by,
    "add": lambda was, by: was + by,
    "less": lambda was, by: max(Decimal(0), was - by),
    "scale": lambda was, by: was * by / 100,
}


def filled(tree: Tree, given: QueryDict, standing: Standing, said: Said) -> str:
    """Put the result into what was said, for each ticked row; what is wrong with the wish."""
    does, kind = DOES.get(given.get("does", "")), given.get("column", "")
    by = _number(given.get("by", ""))
    if by is None:
        return _("Say by how much.")
    if does is None or kind not in columns_of(tree.unit) or by < 0:
        return _("Say what to do with which column.")
    ticked = set(given.getlist("pick"))
    if not ticked:
        return _("Tick the rows that are meant.")
    for node in tree.nodes:
        name = f"{kind}|{node.key}"
        if node.key not in ticked or name not in given or not may_set(standing, node.tenant, kind):
            continue
        text = _done(does, str(given[name]), by)
        if text is not None:
            said.texts[name] = text
    return ""


def _done(does: Callable[[Decimal, Decimal], Decimal], text: str, by: Decimal) -> str | None:
    """The new number; None where nothing is written that could be changed."""
    if does is DOES["set"]:
        return f"{by:f}"
    was = _number(text)
    if was is None:
        return None
    found = f"{does(was, by).quantize(Decimal('0.001')):f}"
    return found.rstrip("0").rstrip(".")


def _number(text: str) -> Decimal | None:
    """A number that people mean; None for anything else, 1e999999 too."""
    plain = text.strip().replace(",", ".")
    try:
        number = Decimal(plain) if len(plain) <= LONGEST else None
    except InvalidOperation:
        return None
    within = number is not None and number.is_finite() and number.adjusted() < LONGEST
    return number if within else None
