"""What NVML says becomes inventory and readings; one bad card spoils nothing else."""

import os
import pwd
import signal
import subprocess
import threading
from types import SimpleNamespace

import pynvml
import pytest

from nodeagent.drivers.base import Load, Lost, NotSupported, Refused
from nodeagent.drivers.nvml.driver import NvmlDriver
from nodeagent.protocol.desired import WantedSlice
from nodeagent.protocol.vocabulary import Mode
from nodeagent.records import Record
from nodeagent.runners.adoption import labels
from tests.nodeagent.waiting import until

MIB = 1024 * 1024
OWNER = f" of {pwd.getpwuid(os.getuid()).pw_name}"
"""Whose the processes of the tests are, as strangers are named."""


class Library:
    """Stands for the library: `broken` cards answer nothing, `absent` calls are not supported."""

    def __init__(self, monkeypatch, *, broken=(), absent=(), as_bytes=False):
        def text(value):
            return value.encode() if as_bytes else value

        def handle(index):
            if index in broken:
                raise pynvml.NVMLError(pynvml.NVML_ERROR_GPU_IS_LOST)
            return index

        self.running = {}
        calls = {
            "nvmlInit": lambda: None,
            "nvmlSystemGetDriverVersion": lambda: text("580.95"),
            "nvmlDeviceGetCount": lambda: 3,
            "nvmlDeviceGetHandleByIndex": handle,
            "nvmlDeviceGetName": lambda h: text("NVIDIA H200"),
            "nvmlDeviceGetUUID": lambda h: text(f"GPU-{h}"),
            "nvmlDeviceGetSerial": lambda h: text("123"),
            "nvmlDeviceGetPciInfo": lambda h: SimpleNamespace(busId=text("00:10.0")),
            "nvmlDeviceGetCudaComputeCapability": lambda h: (9, 0),
            "nvmlDeviceGetPowerManagementDefaultLimit": lambda h: 700000,
            "nvmlDeviceGetMemoryInfo": lambda h: SimpleNamespace(total=143771 * MIB, used=10 * MIB),
            "nvmlDeviceGetComputeRunningProcesses": lambda h: [
                SimpleNamespace(pid=pid) for pid in self.running.get(h, ())
            ],
            "nvmlDeviceGetUtilizationRates": lambda h: SimpleNamespace(gpu=40),
            "nvmlDeviceGetPowerUsage": lambda h: 120000,
            "nvmlDeviceGetTemperature": lambda h, which: 41,
            "nvmlDeviceGetCurrentClocksThrottleReasons": lambda h: 4,
        }
        for name, call in calls.items():
            monkeypatch.setattr(pynvml, name, self._missing if name in absent else call)

    def _missing(self, *_):
        raise pynvml.NVMLError(pynvml.NVML_ERROR_NOT_SUPPORTED)


async def opened(folder):
    driver = NvmlDriver(folder)
    await driver.open()
    return driver


@pytest.mark.parametrize("as_bytes", [False, True])
async def test_a_card_describes_itself_in_bytes_or_in_text(monkeypatch, tmp_path, as_bytes):
    Library(monkeypatch, as_bytes=as_bytes)
    card = (await (await opened(tmp_path)).inventory())[1]
    assert (card.uuid, card.index, card.label, card.driver) == ("GPU-1", 1, "H200", "580.95")
    assert (card.memory_mib, card.compute_capability, card.tdp_w) == (143771, "9.0", 700)
    assert card.modes == (Mode.WHOLE,)


async def test_one_bad_card_does_not_hide_the_others(monkeypatch, tmp_path):
    Library(monkeypatch, broken={1})
    driver = await opened(tmp_path)
    assert [card.uuid for card in await driver.inventory()] == ["GPU-0", "GPU-2"]


async def test_what_a_card_cannot_measure_is_unknown_and_not_zero(monkeypatch, tmp_path):
    meters = {"nvmlDeviceGetUtilizationRates", "nvmlDeviceGetPowerUsage"}
    Library(monkeypatch, absent=meters)
    reading = (await (await opened(tmp_path)).sample(1.0, ()))[0]
    assert (reading.util_mean, reading.power_w_mean) == (None, None)
    assert (reading.memory_mib_mean, reading.temperature_c_max) == (10.0, 41.0)


async def test_a_machine_without_the_library_has_no_cards(monkeypatch, tmp_path):
    def nothing():
        raise pynvml.NVMLError(pynvml.NVML_ERROR_LIBRARY_NOT_FOUND)

    monkeypatch.setattr(pynvml, "nvmlInit", nothing)
    driver = await opened(tmp_path)
    assert await driver.inventory() == () and await driver.modes() == {}


async def words(driver):
    return [one.health for one in await driver.health()]


@pytest.mark.parametrize(
    ("failure", "word"),
    [
        (pynvml.NVML_ERROR_GPU_IS_LOST, "lost"),
        (pynvml.NVML_ERROR_RESET_REQUIRED, "reset_needed"),
        (pynvml.NVML_ERROR_UNKNOWN, "silent"),
        (pynvml.NVML_ERROR_NOT_SUPPORTED, "partial"),
    ],
)
async def test_each_card_is_asked_how_it_does(monkeypatch, tmp_path, failure, word):
    Library(monkeypatch)
    driver = await opened(tmp_path)
    memory = pynvml.nvmlDeviceGetMemoryInfo

    def ask(handle):
        if handle == 1:
            raise pynvml.NVMLError(failure)
        return memory(handle)

    monkeypatch.setattr(pynvml, "nvmlDeviceGetMemoryInfo", ask)
    assert await words(driver) == ["ok", word, "ok"]


async def test_a_card_that_hangs_is_silent_and_is_asked_once_until_it_answers(
    monkeypatch, tmp_path
):
    Library(monkeypatch)
    driver = await opened(tmp_path)
    monkeypatch.setattr("nodeagent.drivers.patience.LOOK_S", 0.3)
    memory, goes_on, asked = pynvml.nvmlDeviceGetMemoryInfo, threading.Event(), []

    def ask(handle):
        if handle == 1:
            asked.append(handle)
            goes_on.wait(30.0)
        return memory(handle)

    monkeypatch.setattr(pynvml, "nvmlDeviceGetMemoryInfo", ask)
    try:
        assert await words(driver) == ["ok", "silent", "ok"]
        assert (await words(driver))[1] == "silent" and len(asked) == 1
    finally:
        goes_on.set()
    await until(lambda: not driver._patience.hanging("GPU-1", 0.0))
    monkeypatch.setattr("nodeagent.drivers.patience.LOOK_S", 20.0)
    assert await words(driver) == ["ok", "ok", "ok"]


async def test_work_of_strangers_is_named_and_work_of_the_pool_is_not(monkeypatch, tmp_path):
    library = Library(monkeypatch)
    driver = await opened(tmp_path)
    shim = labels(Record("at-1", tmp_path), "any")
    # The shim waits for its child, which has dropped every label.
    ours = subprocess.Popen(["sh", "-c", "env -i sleep 600 & echo $!; wait"], env=shim, stdout=-1)
    stranger = subprocess.Popen(["sleep", "600"])
    job = int(ours.stdout.readline())
    try:
        library.running = {0: [job], 1: [stranger.pid, job], 2: [2**22 + 1]}
        told = await driver.health()
        assert [one.health for one in told] == ["ok", "contested", "ok"]
        assert told[1].foreign == (f"sleep ({stranger.pid}){OWNER}",)
        assert stranger.poll() is None
    finally:
        os.kill(job, signal.SIGKILL)
        ours.communicate()
        stranger.kill()
        stranger.wait()


def whole(uid, card="GPU-0", mode=Mode.WHOLE):
    return WantedSlice(
        uid=uid, card=card, mode=mode, profile="whole", memory_mib=1, compute_milli=1000, start=0
    )


async def test_whole_cards_are_named_once_and_stay_named(monkeypatch, tmp_path):
    Library(monkeypatch)
    driver = await opened(tmp_path)
    found = await driver.create_slice(whole("sl-1"))
    assert await driver.create_slice(whole("sl-1")) == found
    assert (found.device, found.memory_mib) == ("GPU-0", 143771)
    with pytest.raises(Refused):
        await driver.create_slice(whole("sl-2"))
    with pytest.raises(NotSupported):
        await driver.create_slice(whole("sl-3", "GPU-1", Mode.MIG))
    with pytest.raises(Lost):
        await driver.create_slice(whole("sl-3", "GPU-9"))
    again = await opened(tmp_path)
    assert await again.slices() == (found,)
    rows = await again.sample(1.0, (Load("sl-1", "at-1", cpu=0.5),))
    assert [(r.slice, r.attempt, r.cpu_milli_mean) for r in rows if r.card == "GPU-0"] == [
        (None, None, None),
        ("sl-1", "at-1", 500.0),
    ]
    await again.delete_slice("sl-1")
    await again.delete_slice("sl-1")
    assert await again.slices() == ()
