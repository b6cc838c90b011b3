"""What one round of the live pool costs on PostgreSQL: take, plan and commit, each by itself."""

import os
import time
from unittest import mock

import pytest
from django.db import connection

from pool.cycle import round as rounds
from pool.cycle.round import run_rounds
from pool.models import Card, Hold, Node, Placement, Slice, Workload
from pool.models.workloads import Attempt
from pool.wake import round_wanted
from tests import rows
from tests.pool.obedient import Obedient

CARDS = int(os.environ.get("BENCH_CARDS", "2000"))
WAITING = int(os.environ.get("BENCH_WAITING", "1000"))
ON_NODE = 8
FULL = 0.8
"""So much of the pool is held before the first round looks."""

PROJECTS = 20
NEEDS = (
    {"parts": 1, "whole": True},
    {"parts": 8, "whole": True},
    {"parts": 1, "profile": "1g.10gb"},
    {"parts": 1, "memory_gb": 20},
    {"parts": 1, "memory_gb": 40, "compute_percent": 40},
    {"parts": 1, "memory_gb": 10, "modes": ["mps"]},
)


def copies(row, count, change):
    """So many copies of a row, each with a uid of its own and what `change` says of its number."""
    model = type(row)
    names = [one for one in model._meta.concrete_fields if not one.primary_key]
    made = []
    for number in range(count):
        told = {one.attname: getattr(row, one.attname) for one in names if one.name != "uid"}
        made.append(model(**told | change(number)))
    return model.objects.bulk_create(made, batch_size=5000)


def hardware(cards):
    """Nodes of eight cards each; the first is a real one that said hello."""
    first = rows.node(cards=ON_NODE, cpu=256_000)
    model = Card.objects.filter(node=first).order_by("index")
    more = -(-cards // ON_NODE) - 1

    def named(number):
        name = f"rack{number % 40}-n{number}"
        rack = {"rack": f"r{number % 40}", "network": f"net{number % 4}"}
        return {"name": name, "name_folded": name, "labels": rack, "credential_hash": f"h{number}"}

    nodes = copies(first, more, named)
    for card in model:
        copies(
            card,
            more,
            lambda n, c=card: {"node_id": nodes[n].pk, "uuid": f"GPU-{n}-{c.index}"},
        )
    return Obedient(first)


def running(node, version, into):
    """One job started in the proper way, and copies of all its rows on four fifths of the cards."""
    job = rows.workload(version=version, into=into[0], priority="low", preemptible=True)
    run_rounds()
    node.turn()
    placement = Placement.objects.get(attempt__workload=job)
    attempt = placement.attempt
    held = list(Hold.objects.filter(placement=placement))
    on_card = next(one for one in held if one.slice_id is not None)
    host = next(one for one in held if one.slice_id is None)
    free = list(Card.objects.exclude(pk=on_card.card_id).order_by("pk"))
    chosen = [card for n, card in enumerate(free) if n % 10 < FULL * 10]
    job.refresh_from_db()
    works = copies(
        job,
        len(chosen),
        lambda n: {
            "name": f"run {n}",
            "name_folded": f"run {n}",
            "project_id": into[n % len(into)].pk,
            "expected_seconds": 600 + n % 5000 * 30,
        },
    )
    Workload.partitions.through.objects.bulk_create(
        Workload.partitions.through(workload_id=w.pk, partition_id=placement.partition_id)
        for w in works
    )
    attempts = copies(
        attempt,
        len(chosen),
        lambda n: {"workload_id": works[n].pk, "node_id": chosen[n].node_id},
    )
    placements = copies(placement, len(chosen), lambda n: {"attempt_id": attempts[n].pk})
    slices = copies(on_card.slice, len(chosen), lambda n: {"card_id": chosen[n].pk})
    place = [
        {
            "placement_id": placements[n].pk,
            "node_id": chosen[n].node_id,
            "trust": into[n % len(into)].trust_group_id,
        }
        for n in range(len(chosen))
    ]
    copies(
        on_card,
        len(chosen),
        lambda n: place[n] | {"slice_id": slices[n].pk, "card_id": chosen[n].pk},
    )
    copies(host, len(chosen), lambda n: place[n])


def queue(count, into, part, priority):
    """Waiting work of many kinds, of all projects."""
    versions = [rows.template(need=need, priority=priority) for need in NEEDS]
    owners = [rows.member(one) for one in into]
    for n in range(count):
        who = n % len(into)
        rows.workload(
            version=versions[n % len(versions)],
            into=into[who],
            owner=owners[who],
            partitions=[part],
            priority=priority,
            expected_seconds=600 + n % 100 * 60,
        )


def told(row, what):
    """Print a round's three parts."""
    print(  # noqa: T201
        f"\n{row.cards:6} cards, {row.waiting:4} waiting, {what}:"
        f" take {row.taken_us / 1e6:.3f} s, plan {row.planned_us / 1e6:.3f} s,"
        f" commit {row.committed_us / 1e6:.3f} s; {row.placed} placed, {row.carving} carving,"
        f" {row.preempted} told to leave, {row.stale} stale"
    )
    return row


def one_round(what):
    """A round, whether or not anything asks for one; its row, kept or not."""
    seen = []
    with mock.patch.object(rounds, "round_kept", lambda made: seen.append(made)):
        rounds._one()
    return told(seen[-1], what)


def bare():
    """Reading the same rows with nothing made of them."""
    begun = time.perf_counter()
    with connection.cursor() as cursor:
        for table in (Node, Card, Slice, Hold, Placement, Attempt):
            cursor.execute(f"SELECT * FROM {table._meta.db_table}")
            cursor.fetchall()
    return time.perf_counter() - begun


@pytest.mark.handmade_books
@pytest.mark.django_db
@pytest.mark.timeout(3600)
def test_take_plan_and_commit_of_live_rounds_apart():
    part = rows.partition(preemption=True)
    into = [rows.project() for _ in range(PROJECTS)]
    for project in into:
        rows.quota(limit=CARDS * 1_000_000 // 4, project=project, partition=part)
    node = hardware(CARDS)
    running(node, rows.template(need=NEEDS[0], priority="low", preemptible=True), into)
    queue(WAITING, into, part, "normal")
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    print(f"\na bare read of all rows: {bare():.3f} s")  # noqa: T201
    rounds.MEMORY.forget()
    cold = one_round("from nothing")
    one_round("as much again")
    while one_round("on the way").placed:
        pass
    quiet = one_round("nothing to do")
    queue(10, into, part, "high")
    round_wanted()
    busy = one_round("ten more, of higher class")
    rounds.MEMORY.forget()
    again = one_round("from nothing, nothing to do")
    assert quiet.cards == cold.cards == CARDS
    assert busy.waiting >= quiet.waiting and again.waiting > 0
