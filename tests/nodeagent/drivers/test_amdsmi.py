"""AMD boards through a module that answers as AMD's own does; strangers on AMD and Ascend cards."""

import json
import os
from dataclasses import dataclass, field

import pytest

from nodeagent.drivers.amd import library, occupants
from nodeagent.drivers.amd.cards import Entry, reading
from nodeagent.drivers.amd.source import Amd
from nodeagent.drivers.ascend.source import Ascend
from nodeagent.drivers.base import NotSupported, Refused
from nodeagent.drivers.listed import ListedDriver
from nodeagent.protocol.vocabulary import Mode
from tests.fakes import programs
from tests.nodeagent.drivers.test_nvml import OWNER
from tests.nodeagent.drivers.test_vendors import METRIC, SMALL, STATIC, ascend, search, wanted

__all__ = ["ascend"]

MIB = 196592
"""What one board has; DPX gives each partition a half."""


@dataclass
class Handle:
    """A processor as the module hands it out."""

    bus: str
    partition: int
    of: int


@dataclass
class Module:
    """Two boards. The first is in so many partitions as `parts` says; `set_` is the tool's word.

    `form` is how a driver tells of partitions: by kfd, by the number of the place, or by function.
    `shared` drivers show each partition all memory of its board.
    """

    folder: object
    form: str = "kfd"
    shared: bool = False
    running: dict = field(default_factory=dict)
    rows: bool = True

    def amdsmi_get_processor_handles(self):
        """Partitions side by side, as the tool has set them."""
        sets = [line for line in programs.calls(self.folder) if " set --gpu 0 " in line]
        parts = {"DPX": 2, "CPX": 8}.get(sets[-1].split()[-1], 1) if sets else 1
        return [Handle("05", n, parts) for n in range(parts)] + [Handle("06", 0, 1)]

    def amdsmi_get_gpu_asic_info(self, one):
        return {"market_name": "AMD Instinct MI300X"}

    def amdsmi_get_gpu_vram_usage(self, one):
        share = MIB if self.shared else MIB // one.of
        return {"vram_total": share, "vram_used": 283}

    def amdsmi_get_gpu_driver_info(self, one):
        return {"driver_version": "6.16.6"}

    def amdsmi_get_gpu_device_uuid(self, one):
        return f"{one.bus}ff74a1-0000-1000-80{one.partition:02d}-000000000000"

    def amdsmi_get_gpu_device_bdf(self, one):
        function = one.partition if self.form == "function" else 0
        return f"0000:{one.bus}:00.{function}"

    def amdsmi_get_gpu_bdf_id(self, one):
        if self.form == "function":
            raise KeyError("AMDSMI_STATUS_NOT_SUPPORTED")
        return one.partition << 28 | int(one.bus, 16) << 8

    def amdsmi_get_gpu_kfd_info(self, one):
        if self.form != "kfd":
            raise KeyError("AMDSMI_STATUS_NOT_SUPPORTED")
        return {"kfd_id": 45412, "node_id": 2, "current_partition_id": one.partition}

    def amdsmi_get_pcie_info(self, one):
        return {
            "pcie_static": {"max_pcie_width": 16},
            "pcie_metric": {"pcie_width": 8, "pcie_speed": 32000},
        }

    def amdsmi_get_gpu_process_list(self, one):
        pids = self.running.get((one.bus, one.partition), ())
        return [{"name": "python", "pid": pid} for pid in pids] if self.rows else list(pids)

    def amdsmi_get_gpu_process_info(self, one, handle):
        return {"name": "python", "pid": handle}


@pytest.fixture
def module(tmp_path):
    programs.says(tmp_path / "bin", "amd-smi", {"set": "ok\n"})
    return Module(tmp_path / "bin")


async def opened(tmp_path, module):
    driver = ListedDriver(tmp_path, Amd(search(tmp_path / "bin"), lambda: module), True)
    await driver.open()
    return driver


def half(card, uid):
    return wanted(card, uid, Mode.AMD_PARTITION, "dpx.96gb", MIB // 2, 500)


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("form", ["kfd", "place", "function"])
async def test_two_partitions_of_one_board_are_one_card_with_two_places(
    tmp_path, module, form, shared
):
    module.form, module.shared = form, shared
    driver = await opened(tmp_path, module)
    card, other = await driver.inventory()
    await driver.set_mode(card.uuid, Mode.AMD_PARTITION)
    made = [await driver.create_slice(half(card, uid)) for uid in ("a", "b")]
    assert [row.device for row in made] == ["0", "1"]
    with pytest.raises(Refused):
        await driver.create_slice(half(card, "c"))
    assert [row.card for row in await driver.sample(1.0, ()) if row.slice is None] == [
        card.uuid,
        other.uuid,
    ]

    again = await opened(tmp_path, module)
    assert await again.inventory() == (card, other), "the board is whole in the books, and alone"
    rows = {row.uid: row.device for row in await again.slices()}
    assert rows == {"a": "0", "b": "1"}
    assert [row.health for row in await again.health()] == ["ok", "ok"]
    for uid in ("a", "b"):
        await again.delete_slice(uid)
    assert [one.partition for one in library.entries(module)] == [0, 0]


@pytest.mark.parametrize("rows", [True, False])
async def test_strangers_make_a_board_contested_and_name_their_partition(
    tmp_path, module, people, rows
):
    job, stranger = people
    module.rows = rows
    driver = await opened(tmp_path, module)
    card, _ = await driver.inventory()
    module.running = {("05", 0): [job, os.getpid()], ("06", 0): [stranger]}
    first, second = await driver.health()
    assert (first.health, first.foreign) == ("ok", ()), "own work, and who asks, is no stranger"
    assert (second.health, second.foreign) == (
        "contested",
        (f"sleep ({stranger}){OWNER}",),
    )
    await driver.set_mode(card.uuid, Mode.AMD_PARTITION)
    await driver.create_slice(half(card, "a"))
    module.running = {("05", 0): [job], ("05", 1): [stranger]}
    first, second = await driver.health()
    assert first.foreign == (f"sleep ({stranger}){OWNER} on partition 1",)
    assert (first.health, second.health) == ("contested", "ok")


async def test_a_module_that_does_not_tell_of_processes_contests_nothing(tmp_path, module):
    driver = await opened(tmp_path, module)

    def missing(_):
        raise KeyError("AMDSMI_STATUS_NOT_SUPPORTED")

    module.amdsmi_get_gpu_process_list = missing
    assert [row.health for row in await driver.health()] == ["ok", "ok"]


@pytest.mark.parametrize("older", [True, False])
async def test_the_command_tells_of_strangers_in_both_its_shapes(tmp_path, people, older):
    job, stranger = people
    listed = [{"gpu": n, "bdf": f"0000:0{n + 5}:00.0", "uuid": f"u-{n}"} for n in range(3)]
    running = [
        {"gpu": 0, "process_list": [{"process_info": {"name": "python", "pid": job}}]},
        {"gpu": 1, "process_list": [{"process_info": {"name": "x", "pid": str(stranger)}}]},
        {"gpu": 2, "process_list": [{"process_info": "No running processes detected"}]},
    ]
    answers = {
        "list": json.dumps(listed),
        "static": json.dumps([STATIC[0] | {"gpu": n} for n in range(3)]),
        "metric": json.dumps(METRIC),
        "process": json.dumps(running if older else {"gpu_data": running}),
    }
    programs.says(tmp_path / "bin", "amd-smi", answers)

    def no_library():
        raise NotSupported("libamd_smi.so is not installed")

    driver = ListedDriver(tmp_path, Amd(search(tmp_path / "bin"), no_library), True)
    await driver.open()
    told = await driver.health()
    assert [row.health for row in told] == ["ok", "contested", "ok"]
    assert told[1].foreign == (f"sleep ({stranger}){OWNER}",)
    assert "did not start" in told[1].reason


def test_a_board_whose_work_is_all_the_pools_is_looked_at_once_whatever_it_is_cut_into(monkeypatch):
    asked = []
    monkeypatch.setattr(occupants, "strangers", lambda pids: asked.append(pids) or ())
    parts = [Entry(n, f"GPU-{n}", "0000:05:00.0", "x", 1, None, {}, n) for n in range(8)]
    pids = {n: frozenset({100 + n}) for n in range(8)}
    assert occupants.health(parts[0], parts, pids).health == "ok"
    assert asked == [[100 + n for n in range(8)]]


def test_a_board_at_another_function_is_no_partition(tmp_path, module):
    module.form = "function"
    module.amdsmi_get_gpu_device_bdf = lambda one: f"0000:{one.bus}:00.1"
    assert [one.partition for one in library.entries(module)] == [0, 0]


@pytest.mark.parametrize("named", [True, False])
def test_two_functions_of_a_board_that_is_not_here_are_two_boards(tmp_path, module, named):
    """A virtual machine was given two parts of one board, and sees no board."""
    module.form = "function"
    module.amdsmi_get_processor_handles = lambda: [Handle("05", 1, 4), Handle("05", 2, 4)]
    if not named:
        module.amdsmi_get_gpu_device_uuid = lambda one: ""
    first, second = library.entries(module)
    assert (first.bdf, second.bdf) == ("0000:05:00.1", "0000:05:00.2")
    assert (first.partition, second.partition) == (0, 0) and first.uuid != second.uuid
    assert named or second.uuid == "GPU-0000:05:00.2"


async def test_work_of_strangers_on_a_chip_makes_that_chip_contested(ascend, tmp_path, people):
    job, stranger = people
    line = "| {:<7} {:<9} | {:<13} | {:<24} | {:<23} |\n"
    table = SMALL + "| NPU     Chip      | Process id    | Process name | Process memory(MB) |\n"
    table += line.format(8, 0, job, "python", 100) + line.format(8, 1, stranger, "x", 90)
    driver = ListedDriver(tmp_path, Ascend(search(ascend(table, (1, "no")))), True)
    await driver.open()
    first, second = await driver.health()
    assert (first.health, first.foreign) == ("ok", ())
    assert (second.health, second.foreign) == (
        "contested",
        (f"sleep ({stranger}){OWNER}",),
    )


async def test_the_link_is_told_in_lanes_and_by_its_generation(tmp_path, module):
    driver = await opened(tmp_path, module)
    row, _ = await driver.sample(1.0, ())
    assert (row.pcie_width, row.pcie_generation) == (8, 5)
    said = Entry(0, "u", "b", "n", 1, None, {"width": 16, "speed": {"value": 16, "unit": "GT/s"}})
    row = reading(1.0, said)
    assert (row.pcie_width, row.pcie_generation) == (16, 4)
    row = reading(
        1.0, Entry(0, "u", "b", "n", 1, None, {"pcie_width": "N/A", "pcie_speed": 0xFFFF})
    )
    assert (row.pcie_width, row.pcie_generation) == (None, None)
