"""Full pools for the laws: cards cut, shared and busy in every legal way, before a queue."""

from hypothesis import strategies as st

from nodeagent.protocol.vocabulary import Mode
from pool.carving.geometry import EMPTY, cut_of, free_places
from pool.scheduling.checker.sizes import micro_of
from pool.scheduling.model import PriorityClass, SliceStage
from tests.builders import NOW, req, snapshot, whole

MODES = {
    "A100-80GB": ("whole", "mig", "mps"),
    "A30": ("whole", "mig"),
    "L40S": ("whole", "mps"),
}
LABELS = ("A100-80GB", "A100-80GB", "A30", "L40S")
FATES = (*("held",) * 8, "ready", "ready", "ready", "coming", "going", "broken")
GIVING = (PriorityClass.LOW, PriorityClass.LOW, PriorityClass.SCAVENGER, PriorityClass.NORMAL)
TENANTS = ("p1", "p2")


@st.composite
def pieces_of(draw, card):
    """What lies on one card: places of its geometry, shares of one group, or it whole."""
    modes = sorted(mode.value for mode in card.modes)
    mode = draw(st.sampled_from(modes))
    if mode == "mig":
        return draw(_cut(card))
    if mode == "whole":
        return [{"profile": "whole", "mode": "whole"}] if draw(st.integers(0, 3)) else []
    count = draw(st.integers(2, 5))
    each = 1000 // count
    share = {"profile": "", "mode": mode, "compute": each}
    share["memory"] = card.memory_mib * each // 1000
    heavy = draw(st.booleans())
    return [share | {"heavy_bandwidth": heavy and not number} for number in range(count)]


@st.composite
def _cut(draw, card):
    cut = cut_of(card.geometries[0])
    layout, found = EMPTY, []
    for _ in range(draw(st.integers(1, 4))):
        plain = [i for i, p in enumerate(cut.geometry.profiles) if "+" not in p.name]
        free = [place for i in plain for place in free_places(cut, layout, i)]
        if not free:
            break
        place = draw(st.sampled_from(free))
        layout = layout.plus(place)
        name = cut.profile(place.profile).name
        found.append({"profile": name, "mode": "mig", "start": place.start})
    return found


@st.composite
def dense_worlds(draw, most=4):
    """One or two nodes whose cards are cut, shared or busy, and a queue in front of them."""
    world = snapshot().rules(preemption=draw(st.integers(0, 3)) > 0)
    for name in range(draw(st.integers(1, 2))):
        world = world.node(f"n{name}", network="net")
        for _ in range(draw(st.integers(1, 2))):
            label = draw(st.sampled_from(LABELS))
            world = world.card(label, count=draw(st.integers(1, 2)), modes=MODES[label])
    for card in world.made.cards:
        group = draw(st.sampled_from(TENANTS))
        for told in draw(pieces_of(card)):
            world = draw(_laid(world, card, group, told))
    works = [draw(wanting(number)) for number in range(1, draw(st.integers(3, most + 2)))]
    return world.have(waiting=tuple(works)).made


@st.composite
def _laid(draw, world, card, group, told):
    """One piece on the card: held by work that may have to leave, idle, or on its way."""
    fate = draw(st.sampled_from(FATES))
    stage = SliceStage.READY if fate == "held" else SliceStage(fate)
    world = world.slice(card.id, told["profile"], **_rest(told), stage=stage)
    if fate != "held":
        return world
    piece = world.made.slices[-1]
    ran = draw(st.sampled_from([0.0, 500.0, 4000.0]))
    return world.running(
        900 + piece.id,
        slices=(piece.id,),
        hosts=((card.node, 0, 0, 0),),
        ends=draw(st.sampled_from([None, 30.0, 900.0, 9000.0])),
        tenant=group,
        priority_class=draw(st.sampled_from(GIVING)),
        preemptible=draw(st.integers(0, 2)) > 0,
        checkpointed=draw(st.integers(0, 7)) > 0,
        lost_since_s=NOW - ran,
        card_micro=micro_of(card, piece),
    )


def _rest(told):
    return {name: value for name, value in told.items() if name != "profile"}


@st.composite
def wanting(draw, number):
    """Work that wants what is likely to be taken, of any class and length."""
    told = {
        "tenant": draw(st.sampled_from(TENANTS)),
        "priority": draw(st.sampled_from(["high", "high", "high", "normal", "low"])),
        "declared_s": draw(st.sampled_from([None, 20.0, 600.0, 3600.0])),
        "checkpointed": True,
        "submitted_s": NOW - draw(st.integers(0, 5000)),
    }
    kind = draw(st.integers(0, 3))
    if kind == 0:
        rest = draw(
            st.sampled_from([{}, {}, {"cpu_milli": 48_000}, {"labels": frozenset({"A30"})}])
        )
        return whole(number, draw(st.integers(1, 2)), **rest, **told)
    if kind == 1:
        name = draw(st.sampled_from(["1g.10gb", "2g.20gb", "3g.40gb", "7g.80gb", "2g.12gb"]))
        return req(number, profile=name, modes=(Mode.MIG,), **told)
    told["heavy_bandwidth"] = draw(st.integers(0, 3)) == 0
    if kind == 2:
        share = draw(st.sampled_from([200, 400, 700]))
        return req(number, share_milli=share, modes=(Mode.MPS,), **told)
    modes = draw(st.sampled_from([(), (Mode.MIG,)]))
    return req(number, gb=draw(st.sampled_from([10, 20, 40, 80])), modes=modes, **told)
