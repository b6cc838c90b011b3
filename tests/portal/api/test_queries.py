"""How many queries a call costs: written down, and the same however many rows there are."""

import json
import os
from pathlib import Path

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from portal.access.tokens import token_find
from tests import rows
from tests.portal.api.bodies import address_of
from tests.portal.api.rights import BARRED, SEES
from tests.portal.api.test_isolation import LISTED, ROWS

GOLDEN = Path(__file__).resolve().parents[2] / "golden" / "queries.json"
WRITE = os.environ.get("GOLDEN") == "write"
NOUNS = sorted({noun for noun, *_ in LISTED} - {"samples"})


def cost(who, path, method="GET", body=None) -> int:
    """Queries of one call, without the one a minute that remembers the token's use."""
    token_find(who.token)
    with CaptureQueriesContext(
        connection,
    ) as seen:
        answer = who(method, path, body)
    assert answer.status_code < 300, answer.content
    return len([q for q in seen if not q["sql"].startswith(("SAVEPOINT", "RELEASE"))])


def grown(world) -> None:
    """More of everything, in the tenant that is looked at."""
    own = world.own
    for _ in range(5):
        rows.member(own.project)
        own.work()
        own.asked()
        own.leased()
    for number in range(3):
        own.placement.pk = None
        own.placement.uid = f"pl-00000000-0000-7000-8000-00000000000{number}"
        own.placement.attempt = copied(own.placement.attempt, number + 2)
        own.placement.save(force_insert=True)


def copied(attempt, number):
    """Another run of the same workload."""
    attempt.pk = None
    attempt.uid = f"at-00000000-0000-7000-8000-00000000000{number}"
    attempt.number = number
    attempt.save(force_insert=True)
    return attempt


def counted(world) -> dict[str, int]:
    """Every list, every row, and the writes that people wait for."""
    who = world.by("member")
    found = {f"GET {noun}": cost(admin(world, noun), noun) for noun in NOUNS}
    for noun, _, _, path in ROWS:
        address = path.replace("{lookup}", address_of(world, world.own, noun))
        found[f"GET {noun}/<one>"] = cost(admin(world, noun), address)
    found["POST workloads"] = cost(who, "workloads", "POST", world.job())
    stop = f"workloads/{world.own.workload.uid}/stop"
    found["POST workloads/<one>/stop"] = cost(who, stop, "POST", {})
    return found


def admin(world, noun):
    """Who may read the noun."""
    if noun in BARRED:
        return world.admin
    if noun == "users":
        return world.by("org_admin")
    sees = SEES.get(noun, frozenset({"member"}))
    return world.by(next(role for role in ("member", "lead", "platform_admin") if role in sees))


def test_the_cost_of_every_call_is_the_one_that_was_written_down(world):
    """`GOLDEN=write pytest …` writes it anew; a reviewer then sees what became dearer."""
    found = counted(world)
    if WRITE:
        GOLDEN.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n")
    assert found == json.loads(GOLDEN.read_text())


@pytest.mark.handmade_books
def test_more_rows_cost_no_more_queries(world):
    before = {noun: cost(admin(world, noun), noun) for noun in NOUNS}
    grown(world)
    after = {noun: cost(admin(world, noun), noun) for noun in NOUNS}
    assert after == before
    assert max(after.values()) <= 7
