"""What a job finds in its environment: plain paths, its own device, nothing of the agent's."""

import os
from pathlib import Path

from nodeagent.giveway import contract
from nodeagent.protocol.desired import WantedWork
from nodeagent.protocol.report import FoundSlice
from nodeagent.protocol.vocabulary import Vendor
from nodeagent.runners import staging
from nodeagent.runners.accounts import Account

PLAIN_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

VISIBLE = {
    Vendor.NVIDIA: ("CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES"),
    Vendor.AMD: ("ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES"),
    Vendor.ASCEND: ("ASCEND_RT_VISIBLE_DEVICES", "ASCEND_VISIBLE_DEVICES"),
    Vendor.OTHER: (),
}
"""Which variables tell a vendor's runtime what it may see."""

MEMORY_FILE = "GPUPOOL_MEMORY_FILE"
"""Names the file, in the job's own folder, where it writes how much card memory it reserved."""

RESERVED = frozenset(name for names in VISIBLE.values() for name in names)
"""Set by the agent alone: a job's own value for one of these is dropped."""


TOLD = frozenset(
    {
        "GPUPOOL_NODE",
        "GPUPOOL_PROJECT",
        "GPUPOOL_ATTEMPT_NUMBER",
        "GPUPOOL_CARD_MEMORY_MIB",
        "GPUPOOL_ARRAY",
        "GPUPOOL_ARRAY_INDEX",
        "GPUPOOL_ARRAY_COUNT",
    }
)
"""What only the portal knows of a job. All other names with our prefix are the agent's own."""


def environment(
    work: WantedWork,
    slices: tuple[FoundSlice, ...],
    vendor: Vendor,
    account: Account,
    folder: Path,
    tools: Path,
) -> dict[str, str]:
    """The whole environment; the agent's own is not inherited."""
    own = {
        key: value
        for key, value in work.env.items()
        if key and "=" not in key and key not in RESERVED and _may_be_told(key)
    }
    own |= {key: value for key, value in work.secret_env.items() if key not in RESERVED}
    programs = f"{work.folder}/bin:" if work.folder else ""
    base = {
        "PATH": f"{programs}{PLAIN_PATH}:{tools}",
        "HOME": str(folder / "files"),
        "TMPDIR": str(folder / "tmp"),
        "USER": account.name,
        "LOGNAME": account.name,
        "LANG": "C.UTF-8",
        "PYTHONUNBUFFERED": "1",
    }
    if work.folder:
        base["VIRTUAL_ENV"] = work.folder
    given = staging.variables(work, folder)
    return base | own | given | _pool(work, slices, folder) | _devices(slices, vendor)


def _may_be_told(name: str) -> bool:
    return not name.startswith("GPUPOOL_") or name in TOLD


def _pool(work: WantedWork, slices: tuple[FoundSlice, ...], folder: Path) -> dict[str, str]:
    return {
        "GPUPOOL_ATTEMPT": work.attempt,
        "GPUPOOL_WORKLOAD": work.workload,
        "GPUPOOL_NUMBER": str(work.number),
        "GPUPOOL_SLICES": ",".join(work.slices),
        "GPUPOOL_DEVICES": ",".join(found.device for found in slices),
        "GPUPOOL_MEMORY_MIB": str(sum(found.memory_mib for found in slices)),
        MEMORY_FILE: str(folder / "tmp" / "gpu_memory_mib"),
        **contract.variables(folder),
        "GPUPOOL_RESUME_STEP": "" if work.resume_step is None else str(work.resume_step),
        "GPUPOOL_RESUME_PATH": work.resume_path,
        "GPUPOOL_CPU_MILLI": str(work.cpu_milli),
        "GPUPOOL_RAM_MIB": str(work.memory_mib),
    }


def _devices(slices: tuple[FoundSlice, ...], vendor: Vendor) -> dict[str, str]:
    """A job without a slice is told to see none, not all."""
    names = ",".join(found.device for found in slices)
    given = dict.fromkeys(VISIBLE[vendor], names) if slices else {}
    hidden = {name: "" for name in RESERVED if name not in given and not name.startswith("NVIDIA")}
    return {**hidden, **given}


def tools_folder(work_root: Path, interpreters: tuple[str, ...]) -> Path:
    """A folder at the end of every job's PATH: its `python` is one that job accounts can run."""
    tools = work_root / "bin"
    tools.mkdir(mode=0o755, parents=True, exist_ok=True)
    tools.chmod(0o755)
    for name in ("python", "python3"):
        link = tools / name
        found = next((path for path in interpreters if _anyone_may_run(Path(path))), None)
        if found is not None and not (link.is_symlink() and os.readlink(link) == found):  # noqa: PTH115
            link.unlink(missing_ok=True)
            link.symlink_to(found)
    return tools


def _anyone_may_run(path: Path) -> bool:
    """May every account reach and execute it? Then the job's may, too."""
    try:
        real = path.resolve(strict=True)
        return all(step.stat().st_mode & 0o001 for step in (real, *real.parents))
    except OSError:
        return False
