"""How far one fault on a shared card reaches."""

import pytest

from pool.models import Card, Hold
from pool.selectors.hardware.neighbours import in_reach, neighbours_of
from tests.pool.place import settled

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(("isolation", "reach"), [("process", 2), ("hardware", 0)])
def test_only_what_shares_without_a_wall_is_in_reach(isolation, reach):
    place = settled()
    first, second = (place.submit(need={"profile": "1g.10gb"}) for _ in range(2))
    place.node.turn()
    (card,) = Card.objects.filter(holds__placement__attempt__workload=first).distinct()
    Hold.objects.exclude(slice=None).update(isolation=isolation, card=card)
    assert in_reach(card=card) == reach
    assert [neighbours_of(workload=one) for one in (first, second)] == [max(reach - 1, 0)] * 2
