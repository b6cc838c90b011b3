"""The stand-in library keeps the card's own law when the real binding asks it."""

import pytest

START = """
import json
from ctypes import byref, c_uint
from pynvml import *
nvmlInit()
card = nvmlDeviceGetHandleByIndex(0)

def code(call, *arguments):
    try:
        call(*arguments)
    except NVMLError as failure:
        return failure.value
    return 0

def make(profile, start, size):
    place = c_nvmlGpuInstancePlacement_t(start, size)
    return nvmlDeviceCreateGpuInstanceWithPlacement(card, profile, byref(place))
"""

LOOK = (
    START
    + """
info = nvmlDeviceGetGpuInstanceProfileInfo(card, 0)
print(json.dumps([
    nvmlDeviceGetCount(), nvmlDeviceGetUUID(card), nvmlDeviceGetName(card),
    nvmlDeviceGetMemoryInfo(card).total >> 20, nvmlDeviceGetPciInfo(card).busId,
    nvmlDeviceGetMigMode(card), info.id, info.name, info.memorySizeMB,
    code(nvmlDeviceGetGpuInstanceProfileInfo, card, 17),
    code(nvmlDeviceGetGpuInstanceProfileInfo, card, 18),
]))
"""
)

LIFE = (
    START
    + """
nvmlDeviceSetMigMode(card, 1)
left = nvmlDeviceGetGpuInstanceRemainingCapacity(card, 9)
instance = make(9, 4, 4)
twice = code(make, 19, 5, 1)
wrong = code(make, 9, 1, 4)
kind = nvmlGpuInstanceGetComputeInstanceProfileInfo(instance, 2, 0)
part = nvmlGpuInstanceCreateComputeInstance(instance, kind.id)
name = nvmlDeviceGetUUID(nvmlComputeInstanceGetInfo(part).device)
busy = code(nvmlGpuInstanceDestroy, instance)
now = nvmlDeviceGetGpuInstanceRemainingCapacity(card, 9)
nvmlComputeInstanceDestroy(part)
nvmlGpuInstanceDestroy(instance)
gone = code(nvmlGpuInstanceDestroy, instance)
print(json.dumps([left, twice, wrong, name[:4], busy, now, gone]))
"""
)

MODE = START + "print(json.dumps([nvmlDeviceSetMigMode(card, 1), nvmlDeviceGetMigMode(card)]))\n"

READ_MODE = START + "print(json.dumps(nvmlDeviceGetMigMode(card)))\n"


def test_a_card_shows_what_the_facts_say_of_its_model(machine):
    found = machine("A100-80GB").run(LOOK)
    assert found[:2] == [1, "GPU-0"] and "A100" in found[2]
    assert found[4:] == ["00000000:10:00.0", [0, 0], 19, "1g.10gb", 9728, 3, 2]


def test_instances_keep_the_law_of_places_and_the_order_of_their_end(machine):
    assert machine("H100-80GB").run(LIFE) == [2, 23, 2, "MIG-", 19, 1, 6]


def test_ampere_wants_a_reset_before_the_mode_is_in_force_and_hopper_does_not(machine):
    world = machine("A30")
    assert world.run(MODE) == [16, [0, 1]]
    world.reset()
    assert world.run(READ_MODE) == [1, 1]


def test_hopper_is_in_its_mode_at_once(machine):
    assert machine("H100-80GB").run(MODE) == [0, [1, 1]]


@pytest.mark.parametrize("code", [4, 15, 999])
def test_a_function_answers_what_the_script_says(machine, code):
    world = machine("H100-80GB")
    world.script(f"fail nvmlDeviceGetMigMode {code}")
    asked = START + "print(json.dumps(code(nvmlDeviceGetMigMode, card)))\n"
    assert world.run(asked) == code
