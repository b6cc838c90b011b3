"""A scenario is judged word by word; what is kept is only what was said."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pool.rules.problems import Problems
from pool.rules.whatif.changes import Known, changes_from

KNOWN = Known(partitions={"main"}, models={"A100"}, templates={"tune"}, teams={"vision"})

FINE = {
    "cards": [{"partition": "main", "model": "A100", "count": 0}],
    "quotas": [
        {"team": "vision", "cards": 2.5},
        {"team": "vision", "kind": "guarantee", "cards": None, "partition": "main"},
    ],
    "priorities": [{"template": "tune", "priority": "high"}],
    "templates": [{"template": "tune", "need": {"memory_gb": 20, "compute_percent": 30}}],
    "partitions": [{"policy": "spread", "preemption": False}],
    "numbers": {"heads": 2, "backfill": False},
}


def test_what_is_right_is_kept_whole_and_judged_again_stays_the_same():
    kept = changes_from(FINE, KNOWN)
    assert kept == changes_from(kept, KNOWN)
    assert set(kept) == set(FINE)
    assert kept["quotas"][0] == {
        "team": "vision",
        "kind": "limit",
        "cards": 2.5,
        "partition": "",
        "model": "",
    }
    assert kept["templates"][0]["need"]["compute_milli"] == 300


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"colours": []}, "colours"),
        ({"cards": "many"}, "cards"),
        ({"cards": [{}] * 201}, "cards"),
        ({"cards": [7]}, "cards.1"),
        ({"cards": [{"partition": "main", "model": "A100", "count": -1}]}, "cards.1.count"),
        ({"cards": [{"partition": "main", "model": "A100", "count": True}]}, "cards.1.count"),
        ({"cards": [{"partition": "main", "model": "B", "count": 1}]}, "cards.1.model"),
        ({"cards": [{"partition": "main", "model": "A100", "count": 1, "x": 1}]}, "cards.1.x"),
        ({"quotas": [{"team": "others", "cards": 1}]}, "quotas.1.team"),
        ({"quotas": [{"team": "vision", "cards": "two"}]}, "quotas.1.cards"),
        ({"quotas": [{"team": "vision", "cards": 1, "kind": "wish"}]}, "quotas.1.kind"),
        ({"priorities": [{"priority": "high"}]}, "priorities.1.team"),
        ({"priorities": [{"team": "vision", "priority": "now"}]}, "priorities.1.priority"),
        ({"templates": [{"template": "tune", "need": {}}]}, "templates.1.memory_gb"),
        ({"partitions": [{"policy": "random"}]}, "partitions.1.policy"),
        ({"partitions": [{"lending": "yes"}]}, "partitions.1.lending"),
        ({"numbers": {"heads": 99}}, "numbers.heads"),
        ({"numbers": {"luck": 1}}, "numbers.luck"),
    ],
)
def test_what_is_wrong_is_told_by_section_row_and_field(given, field):
    with pytest.raises(Problems) as told:
        changes_from(given, KNOWN)
    assert field in told.value.fields


ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from([*FINE, "other"]), ANY, max_size=3))
def test_no_input_breaks_the_judge(given):
    try:
        kept = changes_from(given, KNOWN)
    except Problems as told:
        assert told.fields
    else:
        assert set(kept) <= set(FINE)
