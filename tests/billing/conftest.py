"""Money is tested on holds made by hand: no node and no quota stands behind them."""

from pathlib import Path

import pytest

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The pool's invariants are not judged after these tests."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.handmade_books)
