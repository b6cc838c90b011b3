"""A freed chip that its vendor's program lists is clean once its memory is back, as far as told."""

import os
import pwd
import subprocess

import pytest

from nodeagent.drivers.ascend.source import Ascend
from nodeagent.drivers.base import Busy
from nodeagent.drivers.listed import ListedDriver
from nodeagent.protocol.vocabulary import Mode
from tests.nodeagent.drivers.test_vendors import SMALL, ascend, search, wanted

__all__ = ["ascend"]

ROWS = (
    "| NPU     Chip      | Process id    | Process name | Process memory(MB) |\n"
    "| 8       0         | {pid:<13} | x            | 90                 |\n"
)


@pytest.fixture
def opened(ascend, tmp_path):
    """A driver whose first chip shows so much as used, and whose second is cut."""

    async def made(used, people=""):
        table = SMALL.replace("1603  /", f"{used}  /") + people
        driver = ListedDriver(tmp_path, Ascend(search(ascend(table, (1, "no")))), True)
        await driver.open()
        card = (await driver.inventory())[0]
        await driver.create_slice(wanted(card, "a", Mode.WHOLE, "whole", 21527, 1000))
        return driver

    return made


@pytest.mark.parametrize("used", ["0", "1603", "3200", "NA"], ids=["none", "its own", "15 %", "-"])
async def test_what_a_chip_keeps_for_itself_or_does_not_tell_is_no_holders(opened, used):
    driver = await opened(used)
    assert await driver.clean_slice("a") is None
    assert await driver.clean_slice("never") is None


async def test_what_is_still_taken_is_told_with_its_size(opened):
    driver = await opened("9000")
    with pytest.raises(Busy, match="9000 of 21527 MiB are still taken"):
        await driver.clean_slice("a")
    (row,) = await driver.slices()
    assert await driver.free_mib(row) == 21527 - 9000


async def test_on_a_chip_that_strangers_use_nobody_can_tell_whose_it_is(opened):
    stranger = subprocess.Popen(["sleep", "600"])
    try:
        driver = await opened("9000", ROWS.format(pid=stranger.pid))
        told = (await driver.health())[0]
        owner = pwd.getpwuid(os.getuid()).pw_name
        assert told.foreign == (f"sleep ({stranger.pid}) of {owner}",)
        assert await driver.clean_slice("a") is None
    finally:
        stranger.kill()
        stranger.wait()
