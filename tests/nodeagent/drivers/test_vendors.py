"""AMD and Ascend cards through programs that say what the vendors' own have been seen to say."""

import json
import os
import shutil
import sys
from types import SimpleNamespace

import pytest

from nodeagent.drivers.amd import library
from nodeagent.drivers.amd.cards import reading
from nodeagent.drivers.amd.source import Amd
from nodeagent.drivers.ascend.source import Ascend
from nodeagent.drivers.base import Busy, NotSupported, Refused
from nodeagent.drivers.listed import ListedDriver
from nodeagent.drivers.programs import Programs
from nodeagent.drivers.words import number
from nodeagent.protocol.desired import WantedSlice
from nodeagent.protocol.vocabulary import Isolation, Mode, Vendor
from tests.fakes import programs

BOARD = """
        NPU ID                         : 0
        Product Name                   : IT21DMDA
        VDie ID                        : 6A54D211 00A0440A 2F60A8D4 2F0A010A 0F103011
"""

NEW = """
+------------------------------------------------------------------------------------------------+
| npu-smi 23.0.0                   Version: 23.0.0                                               |
+---------------------------+---------------+----------------------------------------------------+
| NPU   Name                | Health        | Power(W)    Temp(C)           Hugepages-Usage(page)|
| Chip                      | Bus-Id        | AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)        |
+===========================+===============+====================================================+
| 0     910B3               | OK            | 93.6        36                0    / 0             |
| 0                         | 0000:C1:00.0  | 42          0    / 0          3306 / 65536         |
+===========================+===============+====================================================+
| 1     910B3               | Alarm         | -           NA                0    / 0             |
| 0                         | 0000:C2:00.0  | -           0    / 0          NA   / 65536         |
+===========================+===============+====================================================+
+---------------------------+---------------+----------------------------------------------------+
| NPU     Chip              | Process id    | Process name             | Process memory(MB)      |
+===========================+===============+====================================================+
| No running processes found in NPU 0                                                            |
+===========================+===============+====================================================+
"""

SMALL = """
+--------------------------------------------------------------------------------------------------+
| npu-smi 22.0.4                       Version: 22.0.4                                             |
+-------------------+-----------------+------------------------------------------------------------+
| NPU     Name      | Health          | Power(W)     Temp(C)           Hugepages-Usage(page)       |
| Chip    Device    | Bus-Id          | AICore(%)    Memory-Usage(MB)                              |
+===================+=================+============================================================+
| 8       310P3     | OK              | NA           41                0     / 0                   |
| 0       0         | 0000:03:00.0    | 0            1603  / 21527                                 |
+===================+=================+============================================================+
| 8       310P3     | OK              | -            40                0     / 0                   |
| 1       1         | 0000:03:00.0    | 7            1500  / 21527                                 |
+===================+=================+============================================================+
"""


def search(folder):
    return Programs(f"{folder}:{os.environ['PATH']}")


def wanted(card, uid, mode, profile, memory_mib, milli):
    return WantedSlice(
        uid=uid,
        card=card.uuid,
        mode=mode,
        profile=profile,
        memory_mib=memory_mib,
        compute_milli=milli,
    )


async def opened(state, source, carve=True):
    driver = ListedDriver(state, source, carve)
    await driver.open()
    return driver


@pytest.mark.parametrize(
    ("said", "value"),
    [
        (*(12,), 12.0),
        ("12 W", 12.0),
        ({"value": "45.5", "unit": "W"}, 45.5),
        ({"value": "N/A", "unit": "W"}, None),
        ("N/A", None),
        ("-", None),
        ("", None),
        (None, None),
        (65535, None),
        (0xFFFFFFFF, None),
        ("0", 0.0),
        (True, None),
    ],
)
def test_the_many_ways_to_say_nothing_are_unknown_and_zero_is_zero(said, value):
    assert number(said) == value


@pytest.fixture
def ascend(tmp_path):
    def made(table, board=BOARD, **more):
        folder = tmp_path / "bin"
        answers = {"info -t board -i 0": board, "info -t board": (1, "not supported")}
        programs.says(folder, "npu-smi", answers | more | {"info": table, "set": "OK\n"})
        return folder

    return made


async def test_columns_of_newer_chips_are_read_by_their_names(ascend, tmp_path):
    driver = await opened(tmp_path, Ascend(search(ascend(NEW))))
    first, second = await driver.inventory()
    assert first.uuid == "NPU-6A54D21100A0440A2F60A8D42F0A010A0F103011"
    assert second.uuid == "NPU-0000:C2:00.0.0", "a die that is not told is known by its place"
    assert (first.vendor, first.memory_mib, first.nominal_gb) == (Vendor.ASCEND, 65536, 64)
    assert (first.driver, first.label) == ("23.0.0", "Ascend-910B")
    one, two = await driver.sample(1.0, ())
    assert (one.sm_mean, one.memory_mib_mean, one.power_w_mean) == (42.0, 3306.0, 93.6)
    assert (two.sm_mean, two.memory_mib_mean, two.power_w_mean) == (None, None, None)
    assert [row.health for row in await driver.health()] == ["ok", "partial"]


async def test_a_chip_without_fast_memory_and_two_dies_on_one_board_are_read(ascend, tmp_path):
    driver = await opened(tmp_path, Ascend(search(ascend(SMALL, (1, "no")))))
    cards = await driver.inventory()
    assert [card.memory_mib for card in cards] == [21527, 21527]
    rows = await driver.sample(1.0, ())
    assert [(row.sm_mean, row.memory_mib_mean) for row in rows] == [(0.0, 1603.0), (7.0, 1500.0)]
    assert [row.power_w_mean for row in rows] == [None, None]


async def test_templates_are_cut_under_free_numbers_and_taken_back(ascend, tmp_path):
    folder = ascend(NEW)
    driver = await opened(tmp_path, Ascend(search(folder)))
    card = (await driver.inventory())[0]
    cut = next(one for one in card.geometries if one.mode == Mode.VNPU)
    assert cut.isolation == Isolation.UNKNOWN
    assert {p.name: p.max_instances for p in cut.profiles} == {
        "vir05_1c_16g": 4,
        "vir10_3c_32g": 2,
    }
    await driver.set_mode(card.uuid, Mode.VNPU)
    made = [
        await driver.create_slice(wanted(card, uid, Mode.VNPU, "vir05_1c_16g", 16384, 250))
        for uid in ("a", "b", "a")
    ]
    assert [row.device for row in made] == ["vdavinci100", "vdavinci101", "vdavinci100"]
    with pytest.raises(Refused):
        await driver.create_slice(wanted(card, "c", Mode.VNPU, "vir10_3c_32g", 65536, 500))
    assert "/dev/vdavinci100" in await driver.device_nodes((made[0],))
    await driver.delete_slice("a")
    await driver.delete_slice("a")
    sets = [line for line in programs.calls(folder) if " set " in line]
    assert sets == [
        "npu-smi set -t create-vnpu -i 0 -c 0 -f vir05_1c_16g -v 100",
        "npu-smi set -t create-vnpu -i 0 -c 0 -f vir05_1c_16g -v 101",
        "npu-smi set -t destroy-vnpu -i 0 -c 0 -v 100",
    ]


async def test_a_program_that_fails_makes_the_cards_silent_and_is_no_end(ascend, tmp_path):
    folder = ascend(NEW)
    driver = await opened(tmp_path, Ascend(search(folder)))
    programs.says(folder, "npu-smi", {"info": (1, "dcmi module initialize failed")})
    assert [row.health for row in await driver.health()] == ["silent", "silent"]
    assert await driver.sample(1.0, ()) == ()


async def test_a_machine_without_the_program_has_no_cards(tmp_path):
    for source in (Ascend(Programs(str(tmp_path))), Amd(Programs(str(tmp_path)))):
        driver = await opened(tmp_path, source)
        assert await driver.inventory() == () and await driver.health() == ()


async def test_without_carving_only_whole_chips_are_offered(ascend, tmp_path):
    driver = await opened(tmp_path, Ascend(search(ascend(NEW))), carve=False)
    card = (await driver.inventory())[0]
    assert card.modes == (Mode.WHOLE,)
    with pytest.raises(NotSupported):
        await driver.set_mode(card.uuid, Mode.VNPU)


LIST = [
    {"gpu": n, "bdf": f"0000:{5 + n // 2:02x}:00.0", "uuid": f"uuid-{n}", "partition_id": n % 2}
    for n in range(2)
]
STATIC = [
    {
        "gpu": 0,
        "asic": {"market_name": "AMD Instinct MI300X"},
        "vram": {"type": "HBM", "size": {"value": 196592, "unit": "MB"}},
        "driver": {"name": "amdgpu", "version": "6.16.6"},
    }
]
METRIC = [
    {
        "gpu": 0,
        "usage": {"gfx_activity": {"value": 37, "unit": "%"}, "umc_activity": "N/A"},
        "power": {"socket_power": {"value": 140, "unit": "W"}},
        "temperature": {"edge": "N/A", "hotspot": {"value": 51, "unit": "C"}},
        "mem_usage": {"used_vram": {"value": 283, "unit": "MB"}},
        "ecc": {"total_correctable_count": 0, "total_uncorrectable_count": "N/A"},
    }
]


@pytest.fixture(params=["older", "newer"])
def amd(request, tmp_path):
    """Older tools answer with lists, newer ones with a name before them and warnings above."""
    older = request.param == "older"

    def said(rows):
        return json.dumps(rows) if older else "WARNING: root\n" + json.dumps({"gpu_data": rows})

    answers = {
        "list": json.dumps(LIST),
        "static": said(STATIC),
        "metric": said(METRIC),
        "set": "ok\n",
    }
    programs.says(tmp_path / "bin", "amd-smi", answers)
    return tmp_path / "bin"


def no_library():
    raise NotSupported("libamd_smi.so is not installed")


async def test_both_shapes_of_amd_smi_are_read(amd, tmp_path):
    driver = await opened(tmp_path, Amd(search(amd), no_library))
    (card,) = await driver.inventory()
    assert (card.uuid, card.label, card.memory_mib, card.driver) == (
        *("uuid-0", "MI300X", 196592, "6.16.6"),
    )
    (row,) = await driver.sample(1.0, ())
    assert (row.sm_mean, row.bandwidth_mean, row.power_w_mean) == (37.0, None, 140.0)
    assert (row.temperature_c_max, row.memory_mib_mean) == (51.0, 283.0)
    assert (row.ecc_corrected, row.ecc_uncorrected) == (0, None)


async def test_a_board_is_parted_with_its_first_slice_and_whole_after_its_last(amd, tmp_path):
    driver = await opened(tmp_path, Amd(search(amd), no_library))
    (card,) = await driver.inventory()
    await driver.set_mode(card.uuid, Mode.AMD_PARTITION)
    for uid in ("a", "b"):
        await driver.create_slice(
            wanted(card, uid, Mode.AMD_PARTITION, "dpx.96gb", card.memory_mib // 2, 500)
        )
    assert sorted(row.device for row in await driver.slices()) == ["0", "1"]
    with pytest.raises(Busy):
        await driver.set_mode(card.uuid, Mode.WHOLE)
    for uid in ("a", "b"):
        await driver.delete_slice(uid)
    sets = [line for line in programs.calls(amd) if " set " in line]
    assert sets == [
        "amd-smi set --gpu 0 --compute-partition DPX",
        "amd-smi set --gpu 0 --compute-partition SPX",
    ]


def boards(folder, first, second):
    """Two boards with so many partitions each, as tool and kernel number them side by side."""
    places = [("05", n) for n in range(first)] + [("06", n) for n in range(second)]
    listed = [
        {"gpu": n, "bdf": f"0000:{bus}:00.0", "uuid": f"uuid-{bus}-{part}", "partition_id": part}
        for n, (bus, part) in enumerate(places)
    ]
    static = [STATIC[0] | {"gpu": n} for n, (_, part) in enumerate(places) if part == 0]
    answers = {"list": json.dumps(listed), "static": json.dumps(static), "set": "ok"}
    programs.says(folder / "bin", "amd-smi", answers | {"metric": "[]"})
    for n, (bus, _) in enumerate(places):
        node = folder / "sys/class/kfd/kfd/topology/nodes" / str(n + 1)
        node.mkdir(parents=True, exist_ok=True)
        location = int(bus, 16) << 8
        words = f"location_id {location}\ndomain 0\ndrm_render_minor {130 + n}\n"
        (node / "properties").write_text(words)
    for n, bus in ((130, "05"), (130 + first, "06")):
        drm = folder / "sys/bus/pci/devices" / f"0000:{bus}:00.0" / "drm"
        shutil.rmtree(drm, ignore_errors=True)
        (drm / f"renderD{n}").mkdir(parents=True)


async def test_a_partition_is_its_place_on_its_board_whatever_numbers_others_take(tmp_path):
    boards(tmp_path, 1, 2)
    source = Amd(search(tmp_path / "bin"), no_library, tmp_path / "sys")
    driver = await opened(tmp_path, source)
    _, card = await driver.inventory()
    await driver.set_mode(card.uuid, Mode.AMD_PARTITION)
    await driver.create_slice(wanted(card, "a", Mode.AMD_PARTITION, "dpx.96gb", 98296, 500))
    before = await driver.slices()
    assert [row.device for row in before] == ["1"]
    assert await driver.device_nodes(before) == ("/dev/kfd", "/dev/dri/renderD131")
    boards(tmp_path, 8, 2)
    with pytest.raises(Busy):
        await driver.device_nodes(before)
    after = await driver.slices()
    assert [row.device for row in after] == ["8"]
    assert await driver.device_nodes(after) == ("/dev/kfd", "/dev/dri/renderD138")
    again = await opened(tmp_path, source)
    assert [row.device for row in await again.slices()] == ["8"]
    boards(tmp_path, 8, 0)
    with pytest.raises(Busy):
        await driver.device_nodes(after)


async def test_a_whole_board_has_the_render_device_of_its_address(tmp_path):
    boards(tmp_path, 1, 1)
    driver = await opened(tmp_path, Amd(search(tmp_path / "bin"), no_library, tmp_path / "sys"))
    cards = await driver.inventory()
    for card, minor in zip(cards, (130, 131), strict=True):
        row = await driver.create_slice(
            wanted(card, card.uuid, Mode.WHOLE, "whole", card.memory_mib, 1000)
        )
        assert await driver.device_nodes((row,)) == ("/dev/kfd", f"/dev/dri/renderD{minor}")
    shutil.rmtree(tmp_path / "sys/bus")
    with pytest.raises(Busy):
        await driver.device_nodes((row,))


async def test_partitions_of_one_board_are_alike(amd, tmp_path):
    driver = await opened(tmp_path, Amd(search(amd), no_library))
    (card,) = await driver.inventory()
    await driver.set_mode(card.uuid, Mode.AMD_PARTITION)
    await driver.create_slice(wanted(card, "a", Mode.AMD_PARTITION, "dpx.96gb", 98296, 500))
    with pytest.raises(Refused, match="alike"):
        await driver.create_slice(wanted(card, "b", Mode.AMD_PARTITION, "cpx.24gb", 24574, 125))


async def test_the_older_rocm_smi_is_read(tmp_path):
    said = {
        "card0": {
            "Unique ID": "0x1f2e3d",
            "PCI Bus": "0000:05:00.0",
            "Card Series": "AMD Instinct MI300X",
            "GPU use (%)": "12",
            "VRAM Total Memory (B)": str(196592 * 2**20),
            "VRAM Total Used Memory (B)": str(1024 * 2**20),
            "Average Graphics Package Power (W)": "N/A",
            "Current Socket Graphics Package Power (W)": "131.0",
            "Temperature (Sensor junction) (C)": "44.0",
        },
        "system": {"Driver version": "6.10.5"},
    }
    programs.says(tmp_path / "bin", "rocm-smi", {"-a": json.dumps(said)})
    driver = await opened(tmp_path, Amd(search(tmp_path / "bin"), no_library))
    (card,) = await driver.inventory()
    assert (card.uuid, card.memory_mib, card.driver) == ("GPU-1f2e3d", 196592, "6.10.5")
    (row,) = await driver.sample(1.0, ())
    assert (row.sm_mean, row.memory_mib_mean, row.power_w_mean) == (12.0, 1024.0, 131.0)
    assert row.temperature_c_max == 44.0


def test_the_vendors_module_is_not_even_imported_without_its_library(monkeypatch):
    class Trap:
        def find_spec(self, name, *_):
            assert name != "amdsmi"

    monkeypatch.setattr(sys, "meta_path", [Trap(), *sys.meta_path])
    with pytest.raises(NotSupported):
        library.load(lambda: False)


def test_calls_that_the_vendors_module_lacks_leave_their_values_unknown():
    def missing(_):
        raise KeyError("AMDSMI_STATUS_NOT_SUPPORTED")

    module = SimpleNamespace(
        amdsmi_get_processor_handles=lambda: ["h"],
        amdsmi_get_gpu_asic_info=lambda h: {"market_name": "AMD Instinct MI300X"},
        amdsmi_get_gpu_vram_usage=lambda h: {"vram_total": 196592, "vram_used": 300},
        amdsmi_get_gpu_device_uuid=lambda h: "aa-bb",
        amdsmi_get_gpu_device_bdf=lambda h: "0000:05:00.0",
        amdsmi_get_gpu_activity=lambda h: {"gfx_activity": 65535},
        amdsmi_get_power_info=missing,
    )
    (entry,) = library.entries(module)
    assert (entry.uuid, entry.memory_mib, entry.driver) == ("GPU-aa-bb", 196592, None)
    row = reading(1.0, entry)
    assert (row.sm_mean, row.power_w_mean, row.memory_mib_mean) == (None, None, 300.0)
