"""A bill as Excel and as CSV for people: the same lines in the reader's language."""

import csv
import io
from collections.abc import Iterable

from django.utils.translation import gettext as _
from openpyxl import Workbook
from openpyxl.styles import Font
from openpyxl.utils import get_column_letter

from billing.rating.money import settle
from billing.rating.statements import Line, cents, hours
from billing.reports.words import account_words
from billing.selectors.statements import Bill
from pool.sheets import plain_cell

WIDTHS = (24, 18, 30, 18, 12, 14, 14, 16, 22)


def titles(currency: str) -> list[str]:
    """The heads of the columns, with units."""
    return [
        *(_("Project"), _("Cost centre"), _("What"), _("Card model"), _("Mode"), _("Price class")),
        *(_("Card-hours"), _("Amount in %(currency)s") % {"currency": currency}, _("Line")),
    ]


def cells(line: Line) -> list[str]:
    """One line's texts and numbers, in the order of the heads."""
    one = line.what
    late = f" ({_('of an earlier month')})" if one.late else ""
    return [
        *(
            plain_cell(one.project_slug),
            plain_cell(one.cost_centre),
            account_words(one.account) + late,
        ),
        *(plain_cell(one.card_model), one.mode, plain_cell(one.price_class)),
        *(hours(one.card_us), cents(line.amount_cents), line.line_id),
    ]


def bill_csv(bill: Bill) -> bytes:
    """With a mark at the beginning by which Excel knows the encoding."""
    out = io.StringIO()
    write = csv.writer(out, lineterminator="\r\n")
    write.writerow(titles(bill.month.currency))
    write.writerows(cells(line) for line in bill.lines)
    return b"\xef\xbb\xbf" + out.getvalue().encode()


def bill_xlsx(bill: Bill) -> bytes:
    """One sheet with numbers as numbers, a total, and heads that stay in sight."""
    book = Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.title = f"{bill.month.first:%Y-%m}"
    sheet.append(titles(bill.month.currency))
    for line in bill.lines:
        texts: list[str | float] = [*cells(line)]
        texts[6] = settle(line.what.card_us, 360_000) / 10_000
        texts[7] = line.amount_cents / 100
        sheet.append(texts)
    sheet.append([_("Total"), *[""] * 6, bill.cents / 100, ""])
    for row in (1, sheet.max_row):
        for cell in sheet[row]:
            cell.font = Font(bold=True)
    for at, width in enumerate(WIDTHS, start=1):
        sheet.column_dimensions[get_column_letter(at)].width = width
    _formats(sheet[f"G2:H{sheet.max_row}"])
    sheet.freeze_panes = "A2"
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def _formats(rows: Iterable[Iterable[object]]) -> None:
    for row in rows:
        for cell, shape in zip(row, ("#,##0.0000", "#,##0.00"), strict=True):
            cell.number_format = shape  # type: ignore[attr-defined]
