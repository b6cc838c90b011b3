"""Time slices: the card's jobs take turns; limits only by sampling, or by HAMi-core where it is."""

from pathlib import Path

from nodeagent.drivers.programs import Programs
from nodeagent.drivers.shares import Share
from nodeagent.protocol.desired import WantedSlice
from nodeagent.protocol.inventory import Ability, Card, Geometry
from nodeagent.protocol.vocabulary import MODE_ISOLATION, Isolation, Mode

SMI = "nvidia-smi"
SHORT, DEFAULT = "1", "0"
"""Length of a turn: 0 default, 1 short, 2 medium, 3 long."""

PRELOADS = ("/usr/local/vgpu/libvgpu.so", "/usr/lib/libvgpu.so", "/opt/hami/libvgpu.so")
"""Where sites install HAMi-core; it is never part of this product."""

PLAIN = "memory is enforced by sampling; compute is not enforced; one job sees the whole card"
PRELOADED = "kept inside the job by HAMi-core: a job that drops the preload is only sampled"


def find_preload(named: Path | None) -> Path | None:
    """The HAMi-core library: the one that is named, else one in a usual place."""
    places = (named,) if named is not None else tuple(Path(path) for path in PRELOADS)
    return next((path for path in places if path.is_file()), None)


class TimeSlice:
    """`preload` is HAMi-core's library, None where the site has none."""

    mode = Mode.TIMESLICE

    def __init__(self, programs: Programs, preload: Path | None, cache: Path) -> None:
        self._programs = programs
        self._preload = preload
        self._cache = cache

    def offer(self, card: Card) -> tuple[Geometry, Ability] | None:
        """Where the vendor's own program is installed."""
        if not self._programs.has(SMI):
            return None
        if self._preload is not None:
            shared = Geometry(Mode.TIMESLICE, 0, 100, (), Isolation.PROCESS)
            kept = Ability(mode=Mode.TIMESLICE, memory="preload", compute="preload", note=PRELOADED)
            return shared, kept
        plain = Geometry(Mode.TIMESLICE, 0, 100, (), MODE_ISOLATION[Mode.TIMESLICE])
        return plain, Ability(mode=Mode.TIMESLICE, memory="sampling", compute="none", note=PLAIN)

    def enter(self, card: Card) -> None:
        """Anybody may open the card, and turns are short."""
        self._programs.run(SMI, "-i", card.uuid, "-c", "DEFAULT")
        self._programs.run(SMI, "compute-policy", "-i", card.uuid, "--set-timeslice", SHORT)

    def leave(self, card: Card) -> None:
        """Turns are as long as they were."""
        self._programs.run(SMI, "compute-policy", "-i", card.uuid, "--set-timeslice", DEFAULT)

    def create(self, card: Card, wanted: WantedSlice, beside: dict[str, Share]) -> str:
        """Nothing on the card knows of it."""
        self._cache_of(wanted.uid).unlink(missing_ok=True)
        return card.uuid

    def delete(self, card: Card, uid: str, share: Share, beside: dict[str, Share]) -> None:
        """The preload's own notes go with the slice: they hold its old limits."""
        self._cache_of(uid).unlink(missing_ok=True)

    def hosts(self, card: Card) -> frozenset[int]:
        """None: the card itself takes turns."""
        return frozenset()

    def environment(self, card: Card, uid: str, share: Share) -> dict[str, str]:
        """The preload and its limits; nothing where there is none."""
        if self._preload is None:
            return {}
        self._cache.mkdir(mode=0o1777, parents=True, exist_ok=True)
        self._cache.chmod(0o1777)
        return {
            "LD_PRELOAD": str(self._preload),
            "CUDA_DEVICE_MEMORY_LIMIT": f"{share.memory_mib}m",
            "CUDA_DEVICE_SM_LIMIT": str(max(share.compute_milli // 10, 1)),
            "CUDA_DEVICE_MEMORY_SHARED_CACHE": str(self._cache_of(uid)),
            # Else the limit sleeps while nobody else is on the card, and bursts find it taken.
            "GPU_CORE_UTILIZATION_POLICY": "FORCE",
        }

    def _cache_of(self, uid: str) -> Path:
        return self._cache / f"{Path(uid).name}.cache"
