"""One what-if: how far it is, then both outcomes side by side; the same as a file."""

import csv
import io
from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from django.http import HttpResponse
from django.utils.translation import gettext as _

from billing.selectors.whatif import PriceChange, added_an_hour, costs_of
from pool.lifecycle.studies import STUDY, Share, TraceSource
from pool.models import Organization, Partition, Project, Study
from pool.rules.whatif.compare import Fared, compared
from pool.selectors.memberships import Standing
from pool.selectors.whatif.studies import Reader, seen_teams, study_list
from pool.sheets import plain_cell
from portal.access.guards import found, owns
from portal.access.showback import money_hidden
from portal.pages.htmx import HtmxRequest, fragment, page
from portal.pages.whatif.words import LOTS, SHARES, changes_said, left_out_said

WHOLE, PART = "pages/whatif/detail.html", "pages/whatif/_detail.html"
TOTAL = (
    ("p50_wait_s", "duration"),
    ("p95_wait_s", "duration"),
    ("mean_wait_s", "duration"),
    ("never", "number"),
    ("gave_way", "number"),
    ("lost_card_hours", "number"),
    ("card_hours", "number"),
)


class Asking(Protocol):
    """Whoever reads: a request of a page, or a door of REST."""

    @property
    def standing(self) -> Standing:
        """The reader's roles."""


@page("GET")
def detail(request: HtmxRequest, uid: str) -> HttpResponse:
    """The whole page; htmx asks for its changing part while the replay goes on."""
    study = found(study_list(standing=request.standing), uid)
    return fragment(request, WHOLE, PART, study_context(request, study))


@page("GET")
def file(request: HtmxRequest, uid: str) -> HttpResponse:
    """The comparison team by team, as CSV."""
    study = found(study_list(standing=request.standing), uid)
    answer = HttpResponse(
        comparison_csv(study, outcome(request, study)), content_type="text/csv; charset=utf-8"
    )
    answer["Content-Disposition"] = f'attachment; filename="{study.uid}.csv"'
    return answer


def study_context(request: HtmxRequest, study: Study) -> dict[str, Any]:
    """What the page shows of one what-if."""
    knows = Reader.of(request.standing)
    context: dict[str, Any] = {
        "study": study,
        "live": study.state in STUDY.live,
        "percent": study.progress_milli // 10,
        "said": changes_said(study, *knows.changes(study)),
        "left_out": left_out_said(study.trace.left_out),
        "mine": owns(request.standing, study),
        "shares": [
            (one.value, label)
            for one, label in SHARES.items()
            if _may_share(request, study, Share(one))
        ],
        "ahead": _ahead(study),
        "several": len(study.changes.get("cards", ())) > 1,
        "steps": _seen(study.steps, knows),
    }
    if study.result is not None and study.baseline is not None:
        context |= outcome(request, study, knows)
    return context


def outcome(reader: Asking, study: Study, knows: Reader | None = None) -> dict[str, Any]:
    """Both sides, of the teams that the reader may know; money by the prices of the period, of a
    file by today's.
    """
    knows = knows or Reader.of(reader.standing)
    before, after = study.baseline or {}, study.result or {}
    seen = seen_teams(standing=reader.standing, study=study)
    currency = _currency(study)
    costs = [
        costs_of(side.get("spent", ()), currency=currency, since=study.trace.since, changes=changes)
        for side, changes in ((before, ()), (after, _prices(study.changes)))
    ]
    unpriced = _unpriced(reader.standing, study)
    rows = compared(before.get("teams", {}), after.get("teams", {}))
    return {
        "teams": [
            {
                "fared": row,
                "tone": LOTS[row.lot][0],
                "lot": LOTS[row.lot][1],
                "costs": [None if row.team in unpriced else side.get(row.team) for side in costs],
            }
            for row in rows
            if seen is None or row.team in seen
        ],
        "hidden": sum(seen is not None and row.team not in seen for row in rows),
        "total": [before.get("total", {}), after.get("total", {})],
        "cost": [None if unpriced & side.keys() else _sum(side) for side in costs],
        "use": [_use(side.get("models", ())) for side in (before, after)],
        "models": [
            row
            for row in _models(before.get("models", ()), after.get("models", ()))
            if knows.sees_place(row["place"])
        ],
        "currency": currency,
        "picture": _picture(before, after),
        "needed": after.get("needed"),
        "there": after.get("there"),
        "options": _options(reader.standing, knows, after.get("options", ()), currency),
        "steps": _seen(study.steps, knows),
    }


def comparison_csv(study: Study, shown: Mapping[str, Any]) -> str:
    """One line a team and side; waits in seconds, money in the currency."""
    out = io.StringIO()
    write = csv.writer(out, lineterminator="\r\n").writerow
    names = [name for name, _unit in TOTAL]
    write(["what_if", "team", "outcome", "side", "jobs", *names, "cost", "currency"])
    for row in shown["teams"]:
        fared: Fared = row["fared"]
        sides = (("before", fared.before), ("after", fared.after))
        for (side, told), cost in zip(sides, row["costs"], strict=True):
            write(
                [
                    study.uid,
                    plain_cell(fared.team),
                    fared.lot.value,
                    side,
                    told.get("jobs", 0),
                    *(told.get(name, "") for name in names),
                    "" if cost is None else f"{cost / 1e6:.2f}",
                    shown["currency"],
                ]
            )
    return out.getvalue()


def _prices(changes: Mapping[str, Any]) -> list[PriceChange]:
    """The changed prices of a scenario; a partition that is gone has none."""
    rows = changes.get("prices", ())
    keys = _keys(row["partition"] for row in rows)
    return [
        PriceChange(row["percent"], keys.get(row["partition"]), row["model"])
        for row in rows
        if not row["partition"] or row["partition"] in keys
    ]


def _keys(slugs: Iterable[str]) -> dict[str, int]:
    return dict(Partition.objects.filter(slug__in=set(slugs)).values_list("slug", "pk"))


def _seen(rows: Iterable[Any], knows: Reader) -> list[Any]:
    """Of what a search tried, the places that the reader may know of."""
    return [row for row in rows if knows.sees_place(row.get("partition", ""))]


def _options(
    standing: Standing, knows: Reader, rows: Iterable[Any], currency: str
) -> list[dict[str, Any]]:
    """Each model that was searched, with what the cards that are missing would cost an hour."""
    seen = _seen(rows, knows)
    keys = _keys(row["partition"] for row in seen)
    missing = {
        (keys[row["partition"]], row["model"]): max(0, row["needed"] - row["there"])
        for row in seen
        if row["needed"] is not None and row["partition"] in keys
    }
    priced = added_an_hour(missing, currency=currency) if not money_hidden(standing) else {}
    return [
        {
            **row,
            "more": missing.get(key := (keys.get(row["partition"], 0), row["model"])),
            "hour_micro": priced.get(key),
        }
        for row in seen
    ]


def _may_share(request: HtmxRequest, study: Study, share: Share) -> bool:
    if share is Share.ORGANIZATION:
        return study.organization_id is not None
    return share is not Share.PLATFORM or request.standing.platform


def _ahead(study: Study) -> int:
    """How many stand before a waiting one."""
    if study.state != "waiting":
        return 0
    return Study.objects.filter(state__in=sorted(STUDY.live), pk__lt=study.pk).count()


def _currency(study: Study) -> str:
    home = study.organization or Organization.objects.order_by("pk").first()
    return home.currency if home is not None else ""


def _unpriced(standing: Standing, study: Study) -> frozenset[str]:
    """The teams whose money this person does not read, though they may read the use."""
    hidden = money_hidden(standing)
    if not hidden or study.trace.source == TraceSource.FILE:
        return frozenset()
    theirs = Project.objects.filter(organization__in=hidden)
    return frozenset(theirs.values_list("slug", flat=True))


def _sum(costs: Mapping[str, int | None]) -> int | None:
    known = [cost for cost in costs.values() if cost is not None]
    return sum(known) if known and len(known) == len(costs) else None


def _use(models: Any) -> int | None:
    """Held time of all cards' time, in thousandths."""
    cards = sum(row["cards"] for row in models)
    return round(sum(row["use_milli"] * row["cards"] for row in models) / cards) if cards else None


def _models(before: Any, after: Any) -> list[dict[str, Any]]:
    sides = [{(row["partition"], row["model"]): row for row in side} for side in (before, after)]
    return [
        {"place": key[0], "model": key[1], "before": sides[0].get(key), "after": sides[1].get(key)}
        for key in sorted(set(sides[0]) | set(sides[1]))
    ]


def _picture(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """Cards held and work waiting over the period, both sides."""
    one, other = before.get("picture", {}), after.get("picture", {})
    return {
        "step_s": one.get("step_s", 1),
        "hours": _("hours from the begin"),
        "panels": [
            {
                "title": title,
                "lines": [
                    {"name": _("as it was"), "data": one.get(name, [])},
                    {"name": _("changed"), "data": other.get(name, [])},
                ],
            }
            for name, title in (("cards", _("Cards held")), ("waiting", _("Work that waits")))
        ],
    }
