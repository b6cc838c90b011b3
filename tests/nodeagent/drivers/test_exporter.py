"""Readings from exporters: they fill what the driver lacks, and rows are never added up."""

import httpx
import pytest
from msgspec.structs import replace

from nodeagent.drivers import exporter
from nodeagent.drivers.simulated import cards
from nodeagent.protocol.samples import Reading

CARD = replace(cards.card("n", 0, "A100-40GB", None), uuid="GPU-aaaa", pci="00000000:10:00.0")
OTHER = replace(cards.card("n", 1, "A100-40GB", None), uuid="GPU-bbbb", index=1)
DCGM = """
# HELP DCGM_FI_DEV_GPU_TEMP GPU temperature (in C).
# TYPE DCGM_FI_DEV_GPU_TEMP gauge
DCGM_FI_DEV_GPU_TEMP{gpu="0",UUID="GPU-aaaa",device="nvidia0",Hostname="n1"} 44
DCGM_FI_DEV_POWER_USAGE{gpu="0",UUID="GPU-aaaa",hostname="n1"} 9223372036854775794
DCGM_FI_DEV_FB_USED{gpu="0",UUID="GPU-aaaa",Hostname="n1"} 3000
DCGM_FI_PROF_GR_ENGINE_ACTIVE{gpu="0",UUID="GPU-aaaa",GPU_I_PROFILE="1g.5gb",GPU_I_ID="7"} 0.25
DCGM_FI_PROF_SM_ACTIVE{gpu="0",UUID="GPU-aaaa",GPU_I_PROFILE="1g.5gb",GPU_I_ID="7"} 0.2
DCGM_FI_PROF_GR_ENGINE_ACTIVE{gpu="0",UUID="GPU-aaaa",GPU_I_PROFILE="2g.10gb",GPU_I_ID="3"} 0.75
DCGM_FI_DEV_FB_USED{gpu="0",UUID="GPU-aaaa",GPU_I_PROFILE="2g.10gb",GPU_I_ID="3"} 2500
DCGM_FI_DEV_GPU_UTIL{gpu="1",uuid="GPU-bbbb",hostname="n1"} 99
DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-elsewhere",hostname="n2"} 1
broken{ 5
DCGM_FI_DEV_GPU_TEMP{gpu="1",UUID="GPU-bbbb"} NaN
"""


def test_instances_are_told_apart_and_never_added_to_their_card():
    found = exporter.readings(DCGM, (CARD, OTHER))
    assert found == {
        ("GPU-aaaa", None): {"temperature_c_max": 44.0, "memory_mib_mean": 3000.0},
        ("GPU-aaaa", 7): {"sm_mean": 20.0},
        ("GPU-aaaa", 3): {"sm_mean": 75.0, "memory_mib_mean": 2500.0},
        ("GPU-bbbb", None): {"util_mean": 99.0},
    }


def test_cards_of_other_vendors_are_found_by_what_names_them():
    npu = replace(cards.card("n", 0, "Ascend-910B", None), uuid="NPU-DIE1", serial="DIE1")
    amd = replace(cards.card("n", 1, "MI300X", None), uuid="GPU-amd", index=1)
    text = """
npu_chip_info_utilization{id="0",vdie_id="die1",model_name="910B3"} 40
npu_chip_info_hbm_used_memory{id="0",vdie_id="die1"} 3306
npu_chip_info_power{id="0",vdie_id="die1"} 93.6
amd_gpu_gfx_activity{gpu_id="1",hostname="n"} 12
gpu_used_vram{gpu_id="1"} 280
"""
    found = exporter.readings(text, (npu, amd))
    assert found[npu.uuid, None] == {
        "sm_mean": 40.0,
        "memory_mib_mean": 3306.0,
        "power_w_mean": 93.6,
    }
    assert found[amd.uuid, None] == {"sm_mean": 12.0, "memory_mib_mean": 280.0}


def test_the_drivers_own_value_stays():
    row = Reading(at=1.0, card="GPU-aaaa", memory_mib_mean=1.0)
    made = exporter.filled(row, {"memory_mib_mean": 2.0, "sm_mean": 3.0, "ecc_corrected": 4.0})
    assert (made.memory_mib_mean, made.sm_mean, made.ecc_corrected) == (1.0, 3.0, 4)


@pytest.fixture
def clock(monkeypatch):
    now = [100.0]
    monkeypatch.setattr("nodeagent.clock.boottime", lambda: now[0])
    return now


async def test_what_an_exporter_said_is_forgotten_when_it_falls_silent(clock):
    answers = [httpx.Response(200, text=DCGM), httpx.Response(503)]

    def answer(request):
        return answers[0] if len(answers) == 1 else answers.pop(0)

    client = httpx.AsyncClient(transport=httpx.MockTransport(answer))
    one = exporter.Exporter("http://127.0.0.1:9400/metrics", client)
    rows = (
        Reading(at=1.0, card="GPU-aaaa"),
        Reading(at=1.0, card="GPU-aaaa", slice="sl-3"),
        Reading(at=1.0, card="GPU-aaaa", slice="share"),
    )
    told = await one.fill(rows, (CARD, OTHER), {"sl-3": 3})
    assert [row.memory_mib_mean for row in told] == [3000.0, 2500.0, None]
    assert [row.sm_mean for row in told] == [None, 75.0, None]
    clock[0] += 20.0
    assert (await one.fill(rows, (CARD,), {}))[0].temperature_c_max == 44.0
    clock[0] += 20.0
    assert (await one.fill(rows, (CARD,), {}))[0].temperature_c_max is None
    await client.aclose()
