"""Where work may lie beside other work, and on which cards it is able to run."""

from dataclasses import replace

import pytest

from nodeagent.protocol.inventory import Geometry, Profile
from nodeagent.protocol.vocabulary import Isolation, Mode, WorkloadKind
from pool.scheduling.checker import check
from pool.scheduling.model import (
    Ceiling,
    CeilingScope,
    PartitionState,
    Policy,
    PriorityClass,
    Reason,
    Seats,
    Topology,
)
from pool.scheduling.plan import plan
from tests.builders import req, snapshot, whole
from tests.pool.scheduling.worlds import settled

SOFT = ("mps",)


def _cut(mode, isolation, profiles, units=8):
    """A vendor's geometry: (name, compute, size, GB, starts, most)."""
    return Geometry(
        mode=mode,
        units=units,
        compute_units=units,
        isolation=isolation,
        reset_to_enter=False,
        profiles=tuple(
            Profile(
                name=name,
                profile_id=name,
                compute=compute,
                size=size,
                memory_mib=gb * 1024,
                nominal_gb=gb,
                starts=starts,
                max_instances=most,
            )
            for name, compute, size, gb, starts, most in profiles
        ),
    )


VNPU = _cut(
    Mode.VNPU,
    Isolation.HARDWARE,
    [("vir05", 4, 4, 32, (), 2), ("vir02", 2, 2, 16, (), 4), ("vir10", 8, 8, 64, (), 1)],
)
VGPU = _cut(Mode.VGPU, Isolation.SOFTWARE, [("8q", 1, 1, 8, (), 6), ("24q", 4, 4, 24, (), 2)])


def _planned(world):
    made = plan(world.made)
    assert check(world.made, made) == ()
    return made


def _started(world):
    return [placed.workload for placed in _planned(world).placed]


def _then(world, work):
    return settled(world.queue(work), _planned(world.queue(work)))


def _card_of(made, number):
    return next(placed for placed in made.placed if placed.workload == number).parts[0].card


def _bounded(scope, milli, purpose="inference"):
    bound = Ceiling(scope=scope, purposes=frozenset({purpose}), compute_milli=milli)
    return (PartitionState(id=1, name="main", ceilings=(bound,)),)


def test_two_that_need_all_the_bandwidth_never_share_a_soft_card():
    world = snapshot().node("n1").card("L40S", modes=SOFT)
    heavy = {"share_milli": 300, "heavy_bandwidth": True}
    made = _planned(world.queue(req(1, **heavy), req(2, **heavy), req(3, share_milli=300)))
    assert sorted(placed.workload for placed in made.placed) == [1, 3]
    assert made.waits[2].reason is Reason.BANDWIDTH
    later = _then(world, req(1, **heavy))
    assert _planned(later.queue(req(2, **heavy))).waits[2].reason is Reason.BANDWIDTH


def test_a_second_card_takes_the_second_of_them_and_parts_of_one_gang_keep_apart_too():
    world = snapshot().node("n1").card("L40S", count=2, modes=SOFT)
    heavy = {"share_milli": 300, "heavy_bandwidth": True}
    made = _planned(world.queue(req(1, **heavy), req(2, **heavy)))
    assert _card_of(made, 1) != _card_of(made, 2)
    gang = _planned(world.queue(req(1, parts=2, **heavy))).placed[0]
    assert len({part.card for part in gang.parts}) == 2
    assert _started(world.queue(req(1, parts=3, **heavy))) == []


def test_what_hardware_cuts_has_bandwidth_of_its_own():
    world = snapshot().node("n1").card("A100-80GB", modes=("mig",))
    heavy = {"profile": "3g.40gb", "heavy_bandwidth": True}
    assert _started(world.queue(req(1, **heavy), req(2, **heavy))) == [1, 2]


def test_an_inference_replica_is_capped_by_itself():
    world = snapshot().node("n1").card("L40S", modes=SOFT)
    world = world.have(partitions=_bounded(CeilingScope.PER_WORKLOAD, 500))
    replica = {"purpose": "inference", "trust": "p1"}
    fits = world.queue(req(1, share_milli=500, **replica), req(2, share_milli=500, **replica))
    assert _started(fits) == [1, 2]
    made = _planned(world.queue(req(1, share_milli=510, **replica)))
    assert made.waits[1].reason is Reason.CEILING


def test_a_split_binds_only_the_mixed_card():
    split = _bounded(CeilingScope.CARD_SPLIT, 700, purpose="training")
    told = {"share_milli": 400, "purpose": "training", "checkpointed": True}
    queue = (req(1, **told), req(2, **told))
    plain = snapshot().node("n1").card("L40S", modes=SOFT).have(partitions=split)
    mixed = snapshot().node("n1").card("L40S", modes=SOFT, mixed=True).have(partitions=split)
    assert _started(plain.queue(*queue)) == [1, 2]
    assert _planned(mixed.queue(*queue)).waits[2].reason is Reason.CEILING
    beside = req(3, share_milli=300, purpose="inference")
    assert _started(mixed.queue(queue[0], beside)) == [1, 3]


def test_training_without_a_checkpoint_shares_no_mixed_card():
    world = snapshot().node("n1").card("L40S", modes=("mps", "whole"), mixed=True)
    share = {"share_milli": 400, "modes": (Mode.MPS,)}
    made = _planned(world.queue(req(1, purpose="training", **share)))
    assert made.waits[1].reason is Reason.UNPROVEN
    assert _started(world.queue(req(1, purpose="training", checkpointed=True, **share))) == [1]
    assert _started(world.queue(req(1, purpose="inference", **share))) == [1]
    assert _started(world.queue(whole(1, purpose="training"))) == [1]


def test_the_strictest_of_several_ceilings_wins():
    loose = _bounded(CeilingScope.CARD_SUM, 800)[0].ceilings
    tight = _bounded(CeilingScope.PER_WORKLOAD, 300)[0].ceilings
    both = (PartitionState(id=1, name="main", ceilings=(*loose, *tight)),)
    world = snapshot().node("n1").card("L40S", modes=SOFT).have(partitions=both)
    assert _started(world.queue(req(1, share_milli=310, purpose="inference"))) == []
    shares = [req(n, share_milli=300, purpose="inference", trust="p1") for n in (1, 2, 3)]
    assert _started(world.queue(*shares)) == [1, 2]


def test_a_desktop_needs_an_encoder_and_a_licence_seat():
    world = snapshot().node("n1")
    world = world.card("A100-80GB", modes=("vgpu",), geometries=(VGPU,), nvenc=0)
    world = world.card("L40S", modes=("vgpu",), geometries=(VGPU,), nvenc=3, graphics=True)
    desk = {"gb": 8, "encoder": True, "kind": WorkloadKind.EXTERNAL, "modes": (Mode.VGPU,)}
    assert _card_of(_planned(world.queue(req(1, **desk))), 1) == 2
    one = world.have(seats=(Seats(mode=Mode.VGPU, total=3, used=2),))
    made = _planned(one.queue(req(1, **desk), req(2, **desk)))
    assert [placed.workload for placed in made.placed] == [1]
    assert made.waits[2].reason is Reason.LICENCE


def test_a_process_never_gets_a_vgpu():
    world = snapshot().node("n1").card("L40S", modes=("vgpu",), geometries=(VGPU,), nvenc=3)
    made = _planned(world.queue(req(1, gb=8, modes=(Mode.VGPU,))))
    assert made.waits[1].reason is Reason.MODE


def test_a_vendors_cut_without_places_is_given_by_its_profile_up_to_its_maximum():
    world = snapshot().node("n1").card("910B", modes=("vnpu",), geometries=(VNPU,))
    strangers = [req(n, gb=16, tenant=f"p{n}") for n in range(1, 6)]
    made = _planned(world.queue(*strangers))
    assert [placed.workload for placed in made.placed] == [1, 2, 3, 4]
    assert {placed.parts[0].new.profile for placed in made.placed} == {"vir02"}


@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        ({"vendors": frozenset({"amd"})}, Reason.VENDOR),
        ({"labels": frozenset({"H100-80GB"})}, Reason.MODEL),
        ({"architectures": frozenset({"hopper"})}, Reason.CAPABILITY),
        ({"min_driver": "551.2"}, Reason.CAPABILITY),
        ({"min_compute_capability": "9.0"}, Reason.CAPABILITY),
        ({"encoder": True}, Reason.CAPABILITY),
        ({"graphics": True}, Reason.CAPABILITY),
        ({"node_labels": frozenset({"rack=r9"})}, Reason.CAPABILITY),
        ({"storage": frozenset({"/data"})}, Reason.STORAGE),
        ({"runner": "enroot"}, Reason.CAPABILITY),
    ],
)
def test_work_is_never_put_where_it_cannot_run(asked, reason):
    told = {"architecture": "ampere", "driver": "550.90.07", "compute_capability": "8.0"}
    world = snapshot().node("n1").card("A100-80GB", **told)
    assert _planned(world.queue(whole(1, **asked))).waits[1].reason is reason


def test_a_driver_is_compared_number_by_number():
    world = snapshot().node("n1").card("A100-80GB", driver="1000.5", compute_capability="10.0")
    fine = {"min_driver": "999.10", "min_compute_capability": "9.0"}
    assert _started(world.queue(whole(1, **fine))) == [1]


def test_whole_nodes_take_idle_nodes_alone_with_all_that_they_have():
    world = snapshot()
    for name in ("n1", "n2", "n3"):
        world = world.node(name, cpu=64_000, network="net").card("H100-80GB", count=4)
    world = _then(world, req(9, parts=0, cpu_milli=1000))
    mpi = whole(1, 8, topology=Topology.WHOLE_NODES, cpu_milli=8000)
    placed = _planned(world.queue(mpi)).placed[0]
    busy = world.made.running[0].hosts[0][0]
    assert {host.node for host in placed.hosts} == {1, 2, 3} - {busy}
    assert {host.cpu_milli for host in placed.hosts} == {64_000}


def test_a_gang_of_slices_that_must_talk_is_never_cut_from_mig():
    world = snapshot().node("n1").card("A100-80GB", count=2, modes=("mig",))
    talk = req(1, profile="3g.40gb", parts=2, topology=Topology.LINKED, modes=(Mode.MIG,))
    assert _started(world.queue(talk)) == []


def test_a_partition_fills_or_spreads_by_class():
    fills = PartitionState(
        id=1,
        name="main",
        policy=Policy.BINPACK,
        policies=(("inference", Policy.SPREAD),),
    )
    world = snapshot().node("n1").card("L40S", count=2, modes=SOFT).have(partitions=(fills,))
    world = _then(world, req(1, share_milli=300, purpose="training"))
    first = world.made.slices[0].card
    batch = _planned(world.queue(req(2, share_milli=300, purpose="training")))
    replica = _planned(world.queue(req(3, share_milli=300, purpose="inference")))
    assert _card_of(batch, 2) == first
    assert _card_of(replica, 3) != first


def test_an_idle_shared_card_changes_its_mode_only_when_it_is_empty():
    world = snapshot().node("n1").card("A100-80GB", modes=("mig", "mps"))
    shared = _then(world, req(1, share_milli=100, modes=(Mode.MPS,)))
    assert _started(shared.queue(req(2, profile="1g.10gb"))) == []
    idle = shared.have(
        running=(), slices=tuple(replace(s, held_by=None) for s in shared.made.slices)
    )
    move = _planned(idle.queue(req(2, profile="1g.10gb"))).placed[0].moves[0]
    assert move.mode is Mode.MIG and move.removes == (shared.made.slices[0].id,)


def test_a_share_on_its_way_that_nobody_holds_is_given_though_the_card_has_no_other_room():
    world = snapshot().node("n1").card("L40S", modes=("mps",))
    memory = world.made.cards[0].memory_mib // 4
    for stage in ("ready", "ready", "ready", "coming"):
        world = world.slice(1, "", mode="mps", memory=memory, compute=250, stage=stage)
    for piece in (1, 2, 3):
        low = {"priority_class": PriorityClass.LOW, "checkpointed": True, "card_micro": 250_000}
        world = world.running(900 + piece, slices=(piece,), hosts=((1, 0, 0, 0),), **low)
    quarter = {"share_milli": 250, "modes": (Mode.MPS,), "priority": "high"}
    made = plan(world.queue(req(1, **quarter)).made)
    assert [part.slice for placed in made.placed for part in placed.parts] == [4]
    more = plan(world.queue(req(1, **quarter | {"share_milli": 260})).made)
    assert not more.placed and more.evictions
