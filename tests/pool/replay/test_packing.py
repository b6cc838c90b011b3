"""Packing recorded arrivals: nothing overlaps, nothing that fits is refused."""

from hypothesis import given, settings
from hypothesis import strategies as st

from pool.replay.packing import Arrival, NodeRow, replay

NODES = [
    NodeRow("a", 16_000, 64_000, 2, "T4"),
    NodeRow("b", 8_000, 32_000, 4, "V100"),
    NodeRow("c", 32_000, 64_000, 0, ""),
]

arrivals = st.lists(
    st.builds(
        lambda cpu, memory, cards, models: Arrival(0, cpu, memory, *cards, models),
        st.integers(0, 9000),
        st.integers(0, 30_000),
        st.sampled_from([(0, 0), (1, 1000), (1, 460), (1, 230), (2, 1000), (4, 1000)]),
        st.sampled_from([frozenset(), frozenset({"T4"}), frozenset({"T4", "V100"})]),
    ),
    max_size=25,
)


def _numbered(given_):
    return [
        Arrival(i, a.cpu_milli, a.memory_mib, a.gpus, a.gpu_milli, a.models)
        for i, a in enumerate(given_)
    ]


class Ledger:
    """What each node has left, counted apart from the planner."""

    def __init__(self):
        self.cpu = {n.name: n.cpu_milli for n in NODES}
        self.memory = {n.name: n.memory_mib for n in NODES}
        self.cards = {n.name: [1000] * n.gpus for n in NODES}
        self.model = {n.name: n.model for n in NODES}

    def fits(self, task, node):
        if self.cpu[node] < task.cpu_milli or self.memory[node] < task.memory_mib:
            return False
        if task.gpus and task.models and self.model[node] not in task.models:
            return False
        return sum(free >= task.gpu_milli for free in self.cards[node]) >= task.gpus

    def take(self, task, answer):
        self.cpu[answer.node] -= task.cpu_milli
        self.memory[answer.node] -= task.memory_mib
        for card in answer.gpus:
            self.cards[answer.node][card] -= task.gpu_milli
        assert self.cpu[answer.node] >= 0 and self.memory[answer.node] >= 0
        assert min(self.cards[answer.node], default=0) >= 0


@settings(deadline=None, max_examples=25)
@given(arrivals)
def test_every_task_is_placed_where_it_fits_and_refused_only_when_it_fits_nowhere(given_):
    tasks = _numbered(given_)
    ledger = Ledger()
    answers = list(replay(NODES, tasks))
    assert [a.number for a in answers] == [t.number for t in tasks]
    for task, answer in zip(tasks, answers, strict=True):
        if not answer.node:
            assert not any(ledger.fits(task, node.name) for node in NODES)
            continue
        assert ledger.fits(task, answer.node)
        assert len(set(answer.gpus)) == len(answer.gpus) == task.gpus
        ledger.take(task, answer)


@settings(deadline=None, max_examples=5)
@given(arrivals)
def test_the_same_record_gives_the_same_answer(given_):
    tasks = _numbered(given_)
    assert list(replay(NODES, tasks)) == list(replay(NODES, tasks))


def test_shares_of_one_card_are_put_together():
    tasks = [Arrival(i, 100, 100, 1, 500, frozenset()) for i in range(4)]
    tasks.append(Arrival(4, 100, 100, 4, 1000, frozenset()))
    answers = list(replay(NODES, tasks))
    assert answers[4].node == "b"
    assert {(a.node, a.gpus) for a in answers[:4]} == {("a", (0,)), ("a", (1,))}
