"""Rows to the wish for one node: which slices shall exist, what shall run, what is over."""

from collections import defaultdict
from collections.abc import Mapping

from msgspec.structs import replace

from nodeagent.protocol.desired import Desired, Launch, Notice, WantedSlice, WantedWork
from nodeagent.protocol.version import GIVEN_WAY, NOTEBOOK_WAY
from nodeagent.protocol.vocabulary import Mode, Silence, WorkloadKind, WorkWanted
from pool.lifecycle.catalogue import EnvironmentKind
from pool.lifecycle.found import FoundState
from pool.lifecycle.nodes import NodeState
from pool.lifecycle.slices import SliceState
from pool.lifecycle.workloads import AttemptState, WorkloadState
from pool.models.adoption.found import FoundWork
from pool.models.installation import Installation
from pool.models.nodes import Node
from pool.models.placements import Hold
from pool.models.slices import Slice
from pool.models.workloads import Attempt, Workload
from pool.selectors.catalogue.desired import given_on, watched
from pool.selectors.notebooks.wanted import home_of, secret_words
from pool.selectors.ranks import launches, unsettled_on, wanted_on
from pool.selectors.yielding import notices, resumes

WANTED = (
    SliceState.PLANNED,
    SliceState.CREATING,
    SliceState.READY,
    SliceState.CLEANING,
    SliceState.LOST,
)
UIDS_OF_A_PROJECT = 10_000
"""How many Unix accounts the range of one project has."""


def desired_of(*, node: Node) -> Desired:
    """The whole wish for the node, in as many queries whatever its size.

    The number is read before the rows: a change in between makes the wish newer than its number,
    and the agent merely reads it again.
    """
    generation, state, observe = Node.objects.values_list("generation", "state", "observe").get(
        pk=node.pk
    )
    epoch = Installation.objects.values_list("epoch", flat=True).get(pk=1)
    if observe:
        return Desired(epoch=epoch, generation=generation, observe=True, watched=watched())
    return Desired(
        epoch=epoch,
        generation=generation,
        slices=_slices(node),
        work=_work(node),
        closed=_closed(node),
        drain=state == NodeState.DRAINING,
        watched=watched(),
    )


def _slices(node: Node) -> tuple[WantedSlice, ...]:
    rows = (
        Slice.objects.filter(card__node=node, lived__upper_inf=True, state__in=WANTED)
        .select_related("card")
        .order_by("card__uuid", "span", "pk")
    )
    return tuple(
        WantedSlice(
            uid=row.uid,
            card=row.card.uuid,
            mode=Mode(row.mode),
            profile=row.profile,
            memory_mib=row.memory_mib,
            compute_milli=row.compute_milli,
            start=row.span.lower if row.span else None,
            size=row.span.upper - row.span.lower if row.span else None,
        )
        for row in rows
    )


def _work(node: Node) -> tuple[WantedWork, ...]:
    attempts = list(
        Attempt.objects.filter(wanted_on(node))
        .select_related(
            "workload__project", "workload__owner", "workload__template_version", "workload__parent"
        )
        .select_related("workload__environment")
        .order_by("pk")
    )
    holds: dict[int, list[Hold]] = defaultdict(list)
    open_holds = Hold.objects.filter(
        node=node, held__upper_inf=True, placement__attempt__state=AttemptState.OPEN
    )
    for hold in open_holds.select_related("placement", "slice").order_by("pk"):
        holds[hold.placement.attempt_id].append(hold)
    gangs = launches(attempts=attempts, node=node)
    told, saved = notices(attempts=attempts), resumes(attempts=attempts)
    given = given_on(attempts=attempts)
    wanted = [
        (replace(_wanted(row, holds[row.pk], node, gangs.get(row.pk)), **given[row.pk].words), row)
        for row in attempts
        if row.pk in holds
    ]
    return tuple(
        _giving_way(_known_to(node, one), row, told.get(row.pk), _saved(saved, row))
        for one, row in wanted
    )


def _saved(saved: Mapping[int, tuple[int, str]], row: Attempt) -> tuple[int | None, str]:
    return saved.get(row.workload_id, (None, ""))


def _known_to(node: Node, work: WantedWork) -> WantedWork:
    """The same; an older agent, which would run it without what it needs, has no runner for it."""
    known = node.host.get("runners", ())
    if work.kind is WorkloadKind.NOTEBOOK and NOTEBOOK_WAY not in known:
        return replace(work, runner=NOTEBOOK_WAY)
    given = work.mounts or work.secret_env or work.secret_files or work.missing
    return replace(work, runner=GIVEN_WAY) if given and GIVEN_WAY not in known else work


def _giving_way(
    work: WantedWork, attempt: Attempt, notice: Notice | None, saved: tuple[int | None, str]
) -> WantedWork:
    """The same with its order to leave: it runs on until the order's deadline, then it stops."""
    late = notice is not None and notice.seconds <= 0
    runs = notice is not None and not late and attempt.workload.state != WorkloadState.STOPPING
    return replace(
        work,
        wanted=WorkWanted.RUN if runs else work.wanted,
        notice=notice,
        draining=attempt.draining,
        resume_step=saved[0],
        resume_path=saved[1],
    )


def _wanted(attempt: Attempt, holds: list[Hold], node: Node, launch: Launch | None) -> WantedWork:
    workload = attempt.workload
    said = workload.parent or workload
    host = next(hold for hold in holds if hold.slice_id is None)
    slices = tuple(hold.slice.uid for hold in holds if hold.slice is not None)
    return WantedWork(
        attempt=attempt.uid,
        workload=workload.uid,
        number=attempt.number,
        kind=WorkloadKind(workload.kind),
        wanted=WorkWanted.STOP if _stops(workload) else WorkWanted.RUN,
        slices=slices,
        account=account_of(workload),
        command=tuple(said.command),
        env=_env(workload, attempt, holds, node),
        files=dict(said.files),
        cpu_milli=host.cpu_milli,
        memory_mib=host.ram_mib,
        disk_mib=host.disk_mib,
        grace_s=workload.grace_seconds,
        start_limit_s=workload.template_version.start_limit_seconds,
        silence=Silence(workload.silence),
        stop_reason=workload.stop_reason,
        runner=workload.runner,
        image=workload.image,
        min_driver=str(workload.need.get("min_driver", "")),
        launch=launch,
        home=home_of(workload),
        folder=_folder(workload),
        group=workload.project.uid_base,
    )


def _folder(workload: Workload) -> str:
    """Where the programs of its environment lie, when that is a folder of the node."""
    environment = workload.environment
    if environment is None or environment.kind != EnvironmentKind.FOLDER:
        return ""
    return environment.reference


def _stops(workload: Workload) -> bool:
    """Ordered to stop or to give way; of a silent node, when a stop was ordered before."""
    if workload.state == WorkloadState.UNREACHABLE:
        return bool(workload.stop_reason)
    return workload.state in (WorkloadState.STOPPING, WorkloadState.PREEMPTING)


def account_of(workload: Workload) -> str:
    """The Unix identity that runs it: the owner's own, else a uid of the project's range."""
    if workload.owner.unix_account:
        return f"user:{workload.owner.unix_account}"
    return f"uid:{workload.project.uid_base + workload.owner_id % UIDS_OF_A_PROJECT}"


def _env(workload: Workload, attempt: Attempt, holds: list[Hold], node: Node) -> dict[str, str]:
    """The person's own variables, and what every job of the pool may know of itself."""
    array = workload.parent
    slices = [hold for hold in holds if hold.slice_id is not None]
    return {
        **{str(name): str(value) for name, value in (array or workload).env.items()},
        "GPUPOOL_WORKLOAD": workload.uid,
        "GPUPOOL_ATTEMPT": attempt.uid,
        "GPUPOOL_ATTEMPT_NUMBER": str(attempt.number),
        "GPUPOOL_PROJECT": workload.project.slug,
        "GPUPOOL_NODE": node.name,
        "GPUPOOL_SLICES": ",".join(hold.slice.uid for hold in slices if hold.slice is not None),
        "GPUPOOL_CARD_MEMORY_MIB": str(sum(hold.memory_mib for hold in slices)),
        "GPUPOOL_ARRAY_INDEX": "" if workload.array_index is None else str(workload.array_index),
        "GPUPOOL_ARRAY_COUNT": "" if array is None else str(array.array_size),
        "GPUPOOL_ARRAY": "" if array is None else array.uid,
        **secret_words(workload, attempt),
    }


def _closed(node: Node) -> tuple[str, ...]:
    """Attempts that the books ended and the node has not yet reported clean: it must end them. And
    those that the books never knew and a person wants ended."""
    rows = Attempt.objects.filter(unsettled_on(node))
    found = FoundWork.objects.filter(node=node, state=FoundState.STOPPING)
    return (
        *rows.order_by("pk").values_list("uid", flat=True),
        *found.order_by("pk").values_list("attempt", flat=True),
    )
