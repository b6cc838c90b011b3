"""Capacity planning on two pages of paper, in the reader's language, for the purchase meeting."""

import io
from collections.abc import Iterable, Sequence
from datetime import UTC
from typing import Any
from xml.sax.saxutils import escape

from babel.numbers import format_decimal, format_percent
from django.http import HttpResponse
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from reportlab.lib import colors
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import mm
from reportlab.platypus import PageBreak, Paragraph, SimpleDocTemplate, Spacer, Table, TableStyle

from billing.reports.paper import LOCALES, paper_font
from pool.rules.planning.size import size_advice
from pool.rules.planning.verdict import Evidence, band_of
from portal.pages.htmx import HtmxRequest, page, refuse_unless
from portal.pages.planning.figures import (
    Model,
    corners_for,
    models,
    sees_capacity,
    this_hour,
    verdict_for,
)
from portal.pages.planning.index import BANDS, CORNERS, WAYS, sentence

MOST_ROWS = 20
"""So many teams, kinds of work and models fit on two pages."""


@page("GET")
def paper(request: HtmxRequest) -> HttpResponse:
    """The same figures as on the page, up to the last full hour."""
    refuse_unless(sees_capacity(request.standing))
    evidence, verdict = verdict_for(request.standing)
    story = Sheet(LOCALES.get(get_language() or "en", "en"))
    story.verdict(sentence(verdict), evidence)
    story.teams(evidence)
    story.flow.append(PageBreak())
    story.corners(
        (dot.name, dot.memory_milli, dot.compute_milli, CORNERS[dot.corner][0])
        for dot in corners_for(request.standing)[:MOST_ROWS]
    )
    story.models(models()[:MOST_ROWS])
    answer = HttpResponse(story.pdf(), content_type="application/pdf")
    name = f"capacity-{this_hour():%Y-%m-%d}.pdf"
    answer["Content-Disposition"] = f'attachment; filename="{name}"'
    return answer


class Sheet:
    """The document as it grows."""

    def __init__(self, locale: str) -> None:
        self.locale = locale
        font = paper_font()
        self.text = ParagraphStyle("text", fontName=font, fontSize=9, leading=13)
        self.right = ParagraphStyle("right", parent=self.text, alignment=2)
        self.head = ParagraphStyle("head", parent=self.text, fontSize=12, leading=18, spaceBefore=8)
        self.title = ParagraphStyle("title", parent=self.text, fontSize=17, leading=24)
        self.flow: list[Any] = []

    def say(self, words: object, style: ParagraphStyle | None = None) -> Paragraph:
        """Words as they are, whatever signs are in them."""
        return Paragraph(escape(str(words)), style or self.text)

    def share(self, milli: int | None) -> str:
        """Thousandths as per cent; unknown is a dash, never 0."""
        return "–" if milli is None else format_percent(milli / 1000, locale=self.locale)

    def number(self, value: float | None) -> str:
        """With one digit; unknown is a dash."""
        return "–" if value is None else format_decimal(value, format="#,##0.#", locale=self.locale)

    def verdict(self, said: str, evidence: Evidence) -> None:
        """The sentence first, then what it rests on and the advice by size."""
        self.flow += [
            self.say(_("Capacity planning"), self.title),
            self.say(
                _("Four weeks up to %(hour)s UTC.")
                % {"hour": f"{this_hour().astimezone(UTC):%Y-%m-%d %H:%M}"}
            ),
            Spacer(1, 8),
            self.say(said, self.head),
            self.say(
                _("%(cards)s cards, mean use %(use)s (%(band)s); measured %(known)s of the time.")
                % {
                    "cards": self.number(evidence.cards),
                    "use": self.share(evidence.use_milli),
                    "band": BANDS[band_of(evidence.use_milli)],
                    "known": self.share(evidence.known_milli),
                }
            ),
            self.say(WAYS[size_advice(round(evidence.cards)).way]),
        ]

    def teams(self, evidence: Evidence) -> None:
        """Who holds what, how well it is used, and who waits."""
        self.flow.append(self.say(_("Teams"), self.head))
        heads = (_("Team"), _("Held"), _("Used"), _("Use"), _("Could give back"), _("95 % wait, h"))
        ranked = sorted(evidence.teams, key=lambda team: (-team.held_cards, team.slug))
        self.table(
            heads,
            [
                (
                    team.name,
                    self.number(team.held_cards),
                    self.number(team.used_cards if team.use_milli is not None else None),
                    self.share(team.use_milli),
                    str(team.spare_cards),
                    self.number(None if team.p95_wait_s is None else team.p95_wait_s / 3600),
                )
                for team in ranked[:MOST_ROWS]
            ],
        )

    def corners(self, rows: Iterable[tuple[str, int | None, int | None, object]]) -> None:
        """Kinds of work by what they use of memory and compute, and what to change."""
        self.flow.append(self.say(_("Memory against compute"), self.head))
        heads = (_("Kind of work"), _("Memory used"), _("Compute used"), _("Change"))
        self.table(
            heads,
            [(name, self.share(full), self.share(busy), do) for name, full, busy, do in rows],
        )

    def models(self, found: Sequence[Model]) -> None:
        """Demand by card model, and the week in which it passes what is there."""
        self.flow.append(self.say(_("Demand"), self.head))
        heads = (
            _("Card model"),
            _("Cards"),
            _("Wanted last week"),
            _("Growth a week"),
            _("Passes"),
        )
        self.table(
            heads,
            [
                (
                    one.demand.label,
                    str(one.demand.cards),
                    self.number(one.last),
                    self.number(one.trend.growth if one.trend else None),
                    _passes(one),
                )
                for one in found
            ],
        )

    def table(self, heads: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
        """Words to the left, numbers to the right; a head on every page."""
        if not rows:
            self.flow.append(self.say(_("Nothing yet.")))
            return
        lines = [[self.say(one, self.right if n else None) for n, one in enumerate(heads)]]
        lines += [
            [self.say(one, self.right if n else None) for n, one in enumerate(row)] for row in rows
        ]
        width = (A4[0] - 36 * mm) / (len(heads) + 1)
        made = Table(lines, colWidths=[2 * width, *[width] * (len(heads) - 1)], repeatRows=1)
        made.setStyle(
            TableStyle(
                [
                    ("LINEBELOW", (0, 0), (-1, 0), 0.8, colors.black),
                    ("LINEBELOW", (0, 1), (-1, -1), 0.25, colors.lightgrey),
                    ("VALIGN", (0, 0), (-1, -1), "TOP"),
                ]
            )
        )
        self.flow.append(made)

    def pdf(self) -> bytes:
        """The finished file; the same figures make the same bytes."""
        out = io.BytesIO()
        made = SimpleDocTemplate(
            out,
            pagesize=A4,
            leftMargin=18 * mm,
            rightMargin=18 * mm,
            topMargin=16 * mm,
            bottomMargin=16 * mm,
            title=_("Capacity planning"),
            invariant=1,
        )
        made.build(self.flow)
        return out.getvalue()


def _passes(one: Model) -> str:
    """In which week the line passes what is there."""
    if one.trend is None:
        return _("too few weeks")
    if one.trend.passes_in is None:
        return _("not in sight")
    if one.trend.passes_in == 0:
        return _("already")
    return _("in %(n)s weeks") % {"n": one.trend.passes_in}
