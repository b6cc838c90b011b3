"""The quota tree: read, edited in place, tried before it is saved, saved with a reason."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from pool.cycle.quotatree.trial import quota_trial
from pool.errors import NotYours, PoolError
from pool.events import Actor
from pool.lifecycle.cards import CardState
from pool.lifecycle.roles import QuotaUnit
from pool.models.partitions import Partition
from pool.rules.policies import reason_problem
from pool.rules.quotatree.oddities import Finding, Level, compared, findings, sums
from pool.selectors.partitions import partition_list
from pool.selectors.quotatree.history import drifts_open
from pool.selectors.quotatree.tree import Node, Tree, quota_tree
from pool.services.quotas import QuotaLine, quotas_set
from pool.services.quotatree.counting import OF_CARDS
from portal.access.guards import anywhere, may
from portal.access.roles import Verb
from portal.explained import AskedTooOften, looked_by
from portal.pages.htmx import HtmxRequest, fragment, go, page, refuse_unless
from portal.pages.quotatree.bulk import filled
from portal.pages.quotatree.effects import queue_effects
from portal.pages.quotatree.said import UNIT_WORDS, Cell, Said, cells, columns_of, said_of, shown

PAGE = "pages/quotatree/index.html"
TABLE = "pages/quotatree/_table.html"
STRIP = "pages/quotatree/_strip.html"


@dataclass(slots=True)
class Row:
    """One line of the table."""

    node: Node
    cells: list[Cell]
    children: dict[str, int]
    findings: list[Finding]


@page("GET", "POST")
def index(request: HtmxRequest) -> HttpResponse:
    """The tree of one unit in one partition; a POST saves what was changed, with its reason."""
    refuse_unless(anywhere(request.standing, Verb.QUOTA_SEE))
    tree = _tree(request)
    if tree is None:
        return render(request, PAGE, {"tree": None})
    if request.method == "POST":
        return _saved(request, tree)
    return fragment(request, PAGE, TABLE, _context(request, tree))


@page("GET")
def use(request: HtmxRequest) -> HttpResponse:
    """What is promised and held now, for a table that is open: what one types there stays."""
    refuse_unless(anywhere(request.standing, Verb.QUOTA_SEE))
    tree = _tree(request)
    if tree is None:
        raise NotYours
    return render(request, "pages/quotatree/_use.html", {"tree": tree})


@page("POST")
def judged(request: HtmxRequest) -> HttpResponse:
    """What saving would bring: who is over, what does not add up, who waits longer or shorter."""
    tree = _tree(request)
    if tree is None:
        raise NotYours
    said = said_of(tree, request.POST, request.standing)
    context = _strip(tree, said) | {"asked": True}
    if said.lines and not said.errors and request.POST.get("queue"):
        try:
            look = looked_by(who=request.user.uid)
            context["queue"] = queue_effects(request, quota_trial(look, said.lines))
            context["queue_asked"] = True
        except AskedTooOften:
            context["often"] = True
    return render(request, STRIP, context)


@page("POST")
def bulk(request: HtmxRequest) -> HttpResponse:
    """The table again with the ticked rows filled in; nothing is saved by it."""
    tree = _tree(request)
    if tree is None:
        raise NotYours
    said = said_of(tree, request.POST, request.standing)
    wrong = filled(tree, request.POST, request.standing, said)
    context = _context(request, tree, said) | {"bulk_error": wrong}
    return render(request, TABLE, context, status=422 if wrong else 200)


def _saved(request: HtmxRequest, tree: Tree) -> HttpResponse:
    said = said_of(tree, request.POST, request.standing)
    reason = request.POST.get("reason", "")
    error = ""
    if not said.errors and not said.lines:
        error = _("Nothing was changed.")
    elif reason_problem(reason):
        error = _("Say why, in one line: it stands in the history.")
    elif not said.errors:
        try:
            made = quotas_set(lines=said.lines, actor=Actor.of(request.user), reason=reason)
        except PoolError as refused:
            error = str(refused)
        else:
            text = ngettext("%(n)d limit was changed.", "%(n)d limits were changed.", len(made))
            messages.success(request, text % {"n": len(made)})
            return go(request, f"{reverse('quota-tree')}?{_query(request)}")
    context = _context(request, tree, said) | _strip(tree, said)
    context |= {"error": error, "reason": reason, "asked": True}
    return render(request, PAGE, context, status=422)


def _tree(request: HtmxRequest) -> Tree | None:
    """The tree that the address names, or the first that there is."""
    asked = request.GET
    choices = partition_list(standing=request.standing)
    row = choices.filter(slug=asked.get("partition", "")).first() or choices.first()
    if row is None:
        return None
    unit = asked.get("unit", QuotaUnit.CARDS_MICRO)
    if unit not in set(QuotaUnit):
        raise NotYours
    models = models_of(row)
    model = asked.get("model", models[0] if models and unit in OF_CARDS else "")
    if unit not in OF_CARDS or len(model) > 80:
        model = ""
    unfolded = {one for one in asked.get("open", "").split(",") if one}
    return quota_tree(
        standing=request.standing,
        partition=row,
        unit=unit,
        card_model=model,
        unfolded=unfolded,
    )


def models_of(partition: Partition) -> list[str]:
    """The kinds of card that the partition has, and those that only its rows name."""
    cards = partition.cards.exclude(state=CardState.RETIRED).values_list("label", flat=True)
    rows = partition.quotas.exclude(card_model="").values_list("card_model", flat=True)
    return sorted(set(cards) | set(rows))


def _context(request: HtmxRequest, tree: Tree, said: Said | None = None) -> dict[str, Any]:
    levels = tree.levels()
    children = {kind: sums(levels, kind) for kind in columns_of(tree.unit)}
    odd: dict[str, list[Finding]] = {}
    for one in findings(levels, capacity=tree.capacity):
        odd.setdefault(one.key, []).append(one)
    rows = [
        Row(
            node,
            cells(tree, node, request.standing, said),
            {k: each[node.key] for k, each in children.items() if node.key in each},
            odd.get(node.key, []),
        )
        for node in tree.nodes
    ]
    platform = may(request.standing, Verb.QUOTA_SET)
    return {
        "tree": tree,
        "rows": rows,
        "columns": columns_of(tree.unit),
        "children": children,
        "edits": any(not cell.locked for row in rows for cell in row.cells),
        "platform": platform,
        "drifts": drifts_open() if platform else 0,
        "partitions": partition_list(standing=request.standing),
        "units": list(UNIT_WORDS.items()),
        "unit_words": UNIT_WORDS[QuotaUnit(tree.unit)],
        "models": models_of(tree.partition) if tree.unit in OF_CARDS else [],
        "query": _query(request),
        "open": request.GET.get("open", ""),
        "capacity": shown(tree.capacity, tree.unit),
    }


def _query(request: HtmxRequest) -> str:
    names = ("partition", "unit", "model", "open")
    return urlencode({name: request.GET[name] for name in names if name in request.GET})


def _strip(tree: Tree, said: Said) -> dict[str, Any]:
    """The oddities before and after, as far as the lines that could be read go."""
    after = compared(
        findings(tree.levels(), capacity=tree.capacity),
        findings(changed_levels(tree, said.lines), capacity=tree.capacity),
    )
    names = {node.key: node.name for node in tree.nodes} | {"": str(tree.partition)}
    return {
        "tree": tree,
        "changes": len(said.lines),
        "unread": len(said.errors),
        "told": [(names[one.key], one) for one in after if one.new],
        "stays": [(names[one.key], one) for one in after if not one.new],
    }


def changed_levels(tree: Tree, lines: Sequence[QuotaLine]) -> list[Level]:
    """The tree's levels as they would be with these lines."""
    levels = {one.key: one for one in tree.levels()}
    for line in lines:
        key = line.tenant.uid + (f"~{line.user.uid}" if line.user else "")
        node, level = tree.node(key), levels[key]
        row = node.rows.get(line.kind) if node else None
        value = None if line.limit is None else line.limit + (row.granted if row else 0)
        said = {**level.said, line.kind: value}
        levels[key] = Level(key=key, parent=level.parent, held=level.held, said=said)
    return list(levels.values())
