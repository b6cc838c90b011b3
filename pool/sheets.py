"""PURE: cells of files that people open as spreadsheets; no cell is ever taken for a formula."""

FORMULAS = ("=", "+", "-", "@", "\t", "\r")
"""What a spreadsheet begins to calculate at."""


def plain_cell(text: str) -> str:
    """The text, with a mark before it where a spreadsheet would calculate it.

    `unmarked` gives the text back, whatever it is: one that looks marked gets a mark of its own.
    """
    return f"'{text}" if text.lstrip("'").startswith(FORMULAS) else text


def unmarked(cell: str) -> str:
    """The text that `plain_cell` made this cell of."""
    return cell[1:] if cell[:1] == "'" and cell.lstrip("'").startswith(FORMULAS) else cell
