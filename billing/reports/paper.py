"""A bill on paper: PDF in the reader's language, with a font that knows both scripts."""

import io
from functools import cache
from pathlib import Path
from xml.sax.saxutils import escape

from babel.dates import format_skeleton
from babel.numbers import format_currency
from django.conf import settings
from django.utils.translation import get_language, gettext
from reportlab.lib import colors
from reportlab.lib.pagesizes import A4, landscape
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import mm
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import Paragraph, SimpleDocTemplate, Spacer, Table, TableStyle

from billing.rating.statements import hours
from billing.reports.words import account_words
from billing.selectors.statements import Bill

FONT = "NotoSansSC"
FILE = "NotoSansSC_400Regular.ttf"
LOCALES = {"zh-hans": "zh_Hans_CN"}


@cache
def paper_font() -> str:
    """The font that knows both scripts, ready for use.

    Raises:
        FileNotFoundError: it was not fetched (`npm ci`, `manage.py vendor`).
    """
    path = Path(settings.BASE_DIR) / "static" / "vendor" / FILE
    pdfmetrics.registerFont(TTFont(FONT, str(path)))
    return FONT


def bill_pdf(bill: Bill) -> bytes:
    """A4 across, a head on every page, numbers to the right; a provisional bill says so.

    Raises:
        FileNotFoundError: the font was not fetched (`npm ci`, `manage.py vendor`).
    """
    font = paper_font()
    locale = LOCALES.get(get_language() or "en", "en")
    text = ParagraphStyle("text", fontName=font, fontSize=8, leading=11)
    right = ParagraphStyle("right", parent=text, alignment=2)
    head = ParagraphStyle("head", parent=text, fontSize=16, leading=22)

    def say(words: str, style: ParagraphStyle = text) -> Paragraph:
        return Paragraph(escape(words), style)

    def money(cents: int) -> str:
        return format_currency(cents / 100, bill.month.currency, locale=locale)

    month = bill.month
    rows = [[say(one) for one in _heads()]]
    for line in bill.lines:
        one = line.what
        late = f" ({gettext('of an earlier month')})" if one.late else ""
        rows.append(
            [
                *(
                    say(one.project_slug),
                    say(one.cost_centre),
                    say(account_words(one.account) + late),
                ),
                say(" · ".join(filter(None, (one.card_model, one.mode, one.price_class)))),
                *(say(hours(one.card_us), right), say(money(line.amount_cents), right)),
                say(line.line_id),
            ]
        )
    rows.append([say(gettext("Total")), *[say("")] * 4, say(money(bill.cents), right), say("")])
    widths = [38 * mm, 26 * mm, 58 * mm, 56 * mm, 24 * mm, 32 * mm, 36 * mm]
    table = Table(rows, colWidths=widths, repeatRows=1)
    table.setStyle(
        TableStyle(
            [
                ("LINEBELOW", (0, 0), (-1, 0), 0.8, colors.black),
                ("LINEBELOW", (0, 1), (-1, -2), 0.25, colors.lightgrey),
                ("LINEABOVE", (0, -1), (-1, -1), 0.8, colors.black),
                ("VALIGN", (0, 0), (-1, -1), "TOP"),
            ]
        )
    )
    when = format_skeleton("yMMMM", month.first, locale=locale)
    title = gettext("Statement of %(month)s") % {"month": when}
    story = [
        say(f"{month.organization.name} · {title}", head),
        say(_standing(bill)),
        Spacer(1, 6),
        table,
    ]
    out = io.BytesIO()
    page = SimpleDocTemplate(
        out,
        pagesize=landscape(A4),
        leftMargin=12 * mm,
        rightMargin=12 * mm,
        topMargin=14 * mm,
        bottomMargin=14 * mm,
        title=title,
        author=month.organization.name,
        invariant=1,
    )
    page.build(story, onFirstPage=_numbered, onLaterPages=_numbered)
    return out.getvalue()


def _numbered(canvas: Canvas, _page: SimpleDocTemplate) -> None:
    canvas.setFont(FONT, 7)
    canvas.drawRightString(landscape(A4)[0] - 12 * mm, 7 * mm, str(canvas.getPageNumber()))


def _heads() -> list[str]:
    return [
        *(gettext("Project"), gettext("Cost centre"), gettext("What")),
        *(gettext("Card model, mode, class"), gettext("Card-hours"), gettext("Amount")),
        gettext("Line"),
    ]


def _standing(bill: Bill) -> str:
    month = bill.month
    zone = gettext("Days of the zone %(zone)s.") % {"zone": month.zone}
    if not month.digest:
        return f"{gettext('Provisional: amounts may still change.')} {zone}"
    closed = gettext("Closed on %(day)s by %(who)s.") % {
        "day": f"{month.closed_at:%Y-%m-%d}",
        "who": month.closed_by,
    }
    return f"{closed} {zone} SHA-256 {month.digest}"
