"""Each broken commitment is told once; kept ones are not told."""

from datetime import UTC, datetime, timedelta

from pool.rules.books.commitments import (
    Commitments,
    KeptRow,
    OrderRow,
    RankRow,
    WindowRow,
    breaches,
)

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
SOON, LONG_AGO = NOW - timedelta(seconds=5), NOW - timedelta(minutes=5)
LATER = NOW + timedelta(hours=1)


def _told(**rows):
    return breaches(Commitments(now=NOW, **rows))


def test_empty_books_break_nothing():
    assert _told() == []


def test_an_order_to_leave_is_settled_when_its_attempt_has_ended():
    fine = (OrderRow(id=1, ended_at=None), OrderRow(id=2, ended_at=SOON))
    assert _told(orders=fine) == []
    assert _told(orders=(OrderRow(id=3, ended_at=LONG_AGO),)) == [
        "orders: order 3 is open, its attempt has ended"
    ]


def test_a_rank_lies_where_its_attempt_holds_something():
    held = ((7, frozenset({1, 2})),)
    ranks = tuple(RankRow(attempt=7, node=node, over=False) for node in (1, 2))
    assert _told(ranks=ranks, held_nodes=held) == []
    astray = (RankRow(attempt=7, node=3, over=False), RankRow(attempt=7, node=4, over=True))
    assert _told(ranks=astray, held_nodes=held) == [
        "ranks: attempt 7 has a rank on node 3 and holds nothing there"
    ]


def _window(**changed):
    row = {"id": 1, "active": False, "ends": LONG_AGO, "ended_at": LONG_AGO}
    return WindowRow(**row | {"nodes": frozenset(), "cards": frozenset()} | changed)


def test_maintenance_ends_in_time_and_leaves_nothing_out_of_service():
    under_way = _window(active=True, ends=LATER, ended_at=None, nodes=frozenset({"no_1"}))
    fresh = _window(ended_at=SOON, nodes=frozenset({"no_1"}))
    assert _told(windows=(under_way, fresh, _window())) == []
    late = _window(active=True, ended_at=None)
    assert _told(windows=(late,)) == ["windows: window 1 is under way past its end"]
    out = _window(nodes=frozenset({"no_2"}), cards=frozenset({"ca_1"}))
    assert _told(windows=(out,)) == [
        "windows: window 1 has ended and keeps ca_1, no_2 out of service"
    ]


def _kept(**changed):
    row = {"card": 1, "reservation": 5, "live_states": True, "starts": LONG_AGO, "ends": LATER}
    return KeptRow(**row | changed)


def test_a_card_is_kept_for_one_reservation_that_counts():
    after = _kept(reservation=6, starts=LATER, ends=LATER + timedelta(hours=1))
    assert _told(kept=(_kept(), after)) == []
    assert _told(kept=(_kept(), _kept(reservation=6))) == [
        "kept: card 1 is kept for [5, 6] at once"
    ]
    assert _told(kept=(_kept(live_states=False),)) == [
        "kept: card 1 is kept for reservation 5, which is over"
    ]
    assert _told(kept=(_kept(ends=LONG_AGO), _kept(reservation=6))) == [], "that one's time is over"
