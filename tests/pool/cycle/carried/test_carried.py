"""After any sequence of changes the carried look, board and plan are those made from nothing."""

import random
from dataclasses import fields, replace
from datetime import timedelta

import numpy as np
import pytest

from pool.clock import now
from pool.cycle.carried.memory import Memory
from pool.cycle.round import run_rounds
from pool.cycle.snapshot import take
from pool.events import SYSTEM
from pool.models import Attempt, Card, Node, Partition, Template, Workload
from pool.scheduling.board import build
from pool.scheduling.outlook.expected import expect
from pool.scheduling.plan import plan, plan_board
from pool.services.workloads import workload_stop
from tests import rows
from tests.pool.obedient import Obedient
from tests.pool.services.yielding.conftest import saved

pytestmark = pytest.mark.django_db

NEEDS = (
    {"parts": 1, "whole": True},
    {"parts": 2, "whole": True},
    {"parts": 1, "profile": "1g.10gb"},
    {"parts": 1, "memory_gb": 20},
    {"parts": 1, "memory_gb": 10, "modes": ["mps"]},
    {"parts": 0},
)


class History:
    """A small pool to which something happens at each step."""

    def __init__(self, seed):
        self.chance = random.Random(seed)
        self.part = rows.partition(preemption=True)
        self.nodes = [Obedient(rows.node(cards=2)), Obedient(rows.node(cards=2, label="A30"))]
        self.projects = [rows.project(), rows.project()]
        self.versions = [
            rows.template(need=need, priority=priority, preemptible=priority == "low")
            for need in NEEDS
            for priority in ("low", "high")
        ]

    def step(self):
        """One change of any kind, and often a round and what the nodes do after it."""
        change = self.chance.choice(
            [self.submit, self.submit, self.submit, self.round, self.round, self.end, self.stop]
            + [self.save, self.edit_part, self.cordon, self.rename, self.grow, self.template]
        )
        change()
        return change.__name__

    def submit(self):
        version = self.chance.choice(self.versions)
        into = self.chance.choice(self.projects)
        more = {"priority": version.priority, "preemptible": version.preemptible}
        rows.workload(version=version, into=into, **more)

    def round(self):
        run_rounds()
        for node in self.nodes:
            node.turn()

    def end(self):
        for node in self.nodes:
            if node.work:
                uid = self.chance.choice(sorted(one.workload for one in node.work.values()))
                node.finish(Workload.objects.get(uid=uid))
                node.tell()
                return

    def stop(self):
        row = Workload.objects.filter(state__in=("queued", "running")).order_by("pk").first()
        if row is not None:
            workload_stop(workload=row, actor=SYSTEM)

    def save(self):
        row = Attempt.objects.filter(state="open").order_by("-pk").first()
        if row is not None:
            saved(row.workload, step=self.chance.randint(1, 99))

    def edit_part(self):
        modes = self.chance.choice([["whole"], ["whole", "mig"], ["whole", "mig", "mps"]])
        Partition.objects.update(modes=modes, sharing=self.chance.random() < 0.7)

    def cordon(self):
        card = self.chance.choice(list(Card.objects.order_by("pk")))
        Card.objects.filter(pk=card.pk).update(offered=not card.offered)

    def rename(self):
        row = self.chance.choice(list(Node.objects.order_by("pk")))
        Node.objects.filter(pk=row.pk).update(labels={"rack": str(self.chance.randint(1, 3))})

    def grow(self):
        if len(self.nodes) < 4:
            self.nodes.append(Obedient(rows.node(cards=1)))

    def template(self):
        version = self.chance.choice(self.versions)
        least = self.chance.choice([0, 600])
        Template.objects.get(pk=version.template_id).versions.update(min_run_seconds=least)


def plain(snapshot):
    """The snapshot with its tuples in one order; their order never changes a plan."""
    told = {}
    for one in fields(snapshot):
        value = getattr(snapshot, one.name)
        told[one.name] = tuple(sorted(value, key=repr)) if isinstance(value, tuple) else value
    return told


def tables(board):
    """What the board says of cards and nodes, but for the numbers of words and stamps."""
    cards, nodes, words = board.cards, board.nodes, board.words
    name = {number: word for word, number in words.codes.items() if _is_trust(word)}
    return {
        "whole": cards.whole.tolist(),
        "held": cards.held.tolist(),
        "entry": cards.entry.tolist(),
        "soft": cards.soft.tolist(),
        "compute": cards.compute.tolist(),
        "memory": cards.memory.tolist(),
        "count": cards.count.tolist(),
        "offered": cards.offered.tolist(),
        "ends": cards.ends.tolist(),
        "trust": [name.get(n) for n in cards.trust.tolist()],
        "on": [name.get(n) for n in nodes.trust.tolist()],
        "layouts": [None if n < 0 else words.layouts[n] for n in cards.layout.tolist()],
        "sorts": [replace(words.sorts[n], layout=0) for n in cards.sort.tolist()],
        "pieces": cards.pieces,
        "modes": cards.modes,
        "free": [nodes.cpu.tolist(), nodes.memory.tolist(), nodes.disk.tolist()],
        "busy": nodes.busy.tolist(),
        "where": words.where,
        "quotas": (board.quotas, board.held, board.seats),
        "rows": {part: np.asarray(some).tolist() for part, some in board.rows.items()},
    }


def _is_trust(word):
    return isinstance(word, tuple) and word[0] == "trust"


@pytest.mark.parametrize("seed", range(6))
def test_what_is_carried_is_what_a_look_from_nothing_finds(seed):
    history, memory, done = History(seed), Memory(), []
    for _ in range(25):
        done.append(history.step())
        at = now()
        carried, bare = take(at, memory=memory), take(at)
        assert plain(carried) == plain(bare), done
        board = memory.board(carried)
        assert tables(board) == tables(build(bare)), done
        made = plan_board(board)
        assert made == plan(bare), done
        assert expect(carried, made, board) == expect(bare, plan(bare)), done


def test_a_quiet_look_reads_no_card_node_or_placement_again(django_assert_max_num_queries):
    history, memory = History(1), Memory()
    for _ in range(4):
        history.submit()
    history.round()
    first = take(now(), memory=memory)
    seen = {kind: dict(getattr(memory, kind).seen) for kind in ("cards", "nodes", "placements")}
    assert all(seen.values())
    second = take(now(), memory=memory)
    for kind, before in seen.items():
        after = getattr(memory, kind).seen
        assert all(after[pk] is before[pk] for pk in before), kind
    assert all(a is b for a, b in zip(first.cards, second.cards, strict=True))
    board = memory.board(first)
    refreshed = []
    before = type(board).refresh
    try:
        type(board).refresh = lambda self, card: refreshed.append(card)
        memory.board(second)
    finally:
        type(board).refresh = before
    assert refreshed == [], "no card has changed"


def test_another_server_or_a_long_life_forgets_everything():
    history, memory = History(2), Memory()
    history.submit()
    take(now(), memory=memory)
    kept = memory.cards.seen
    memory.server = "another one"
    take(now() + timedelta(seconds=1), memory=memory)
    assert memory.cards.seen is not kept
    assert memory.looks == 1
