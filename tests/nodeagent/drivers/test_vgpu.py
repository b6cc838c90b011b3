"""vGPU through a made-up /sys: types, devices, seats, and both ways of making one."""

import pytest
from msgspec.structs import replace

from nodeagent.drivers.base import Busy, NotSupported, Refused
from nodeagent.drivers.shares import Share
from nodeagent.drivers.sharing.vgpu import Vgpu, parsed
from nodeagent.drivers.simulated import cards
from nodeagent.protocol.desired import WantedSlice
from nodeagent.protocol.vocabulary import Isolation, Mode

CARD = replace(cards.card("n", 0, "L40S", None), pci="00000000:3B:00.0")
ADDRESS = "0000:3b:00.0"


def wanted(uid, profile):
    return WantedSlice(
        uid=uid, card=CARD.uuid, mode=Mode.VGPU, profile=profile, memory_mib=1, compute_milli=1
    )


def share(device):
    return Share(CARD.uuid, Mode.VGPU, "", 1, 1, device)


@pytest.fixture
def mediated(tmp_path):
    """A host of the older kind: what is written to `create` turns up among the devices."""
    for number, name, left in (("nvidia-1", "NVIDIA L40S-12Q", 4), ("nvidia-2", "L40S-24C", 0)):
        kind = tmp_path / "class/mdev_bus" / ADDRESS / "mdev_supported_types" / number
        (kind / "devices").mkdir(parents=True)
        (kind / "name").write_text(name + "\n")
        (kind / "available_instances").write_text(f"{left}\n")
        (kind / "create").touch()
    (tmp_path / "bus/mdev/devices").mkdir(parents=True)
    return tmp_path


@pytest.fixture
def functions(tmp_path):
    """A host of the newer kind: two virtual functions under the card."""
    for number in (0, 1):
        function = tmp_path / "bus/pci/devices" / f"0000:3b:00.{number + 4}"
        (function / "nvidia").mkdir(parents=True)
        (function / "nvidia/creatable_vgpu_types").write_text(
            "ID    : vGPU Name\n1155  : NVIDIA L40S-12Q\n1160  : NVIDIA L40S-48C\n"
        )
        (function / "nvidia/current_vgpu_type").write_text("0\n")
        card = tmp_path / "bus/pci/devices" / ADDRESS
        card.mkdir(exist_ok=True)
        (card / f"virtfn{number}").symlink_to(function)
    return tmp_path


@pytest.mark.parametrize(
    ("name", "gb", "series"),
    [
        ("GRID A100-10C", 10, "C"),
        ("NVIDIA A100-2-10C", 10, "C"),
        ("NVIDIA L40S-12Q", 12, "Q"),
        ("NVIDIA A16-1B", 1, "B"),
        ("NVIDIA RTX Pro 6000 Blackwell DC-4-96Q", 96, "Q"),
        ("NVIDIA H100XM-80CME", 80, "C"),
    ],
)
def test_a_type_is_read_from_its_name(name, gb, series):
    kind = parsed("1", name, 2)
    assert (kind.gb, kind.series, kind.left) == (gb, series, 2)


def test_names_of_another_form_are_passed_over():
    assert parsed("1", "Intel GVTg_V5_4", 2) is None


def test_a_host_without_types_offers_no_vgpu(tmp_path):
    assert Vgpu(tmp_path).offer(CARD) is None
    with pytest.raises(NotSupported):
        Vgpu(tmp_path).enter(CARD)


def test_types_are_offered_with_their_sizes_and_the_seat_they_take(mediated):
    geometry, ability = Vgpu(mediated).offer(CARD)
    rows = {p.name: (p.profile_id, p.nominal_gb, p.media) for p in geometry.profiles}
    assert rows == {
        "NVIDIA L40S-12Q": ("nvidia-1", 12, True),
        "L40S-24C": ("nvidia-2", 24, False),
    }
    assert geometry.isolation == Isolation.SOFTWARE
    assert ability.licence == "vCS,vWS" and "virtual machines" in ability.note


def test_a_mediated_device_is_made_once_and_removed_by_its_name(mediated):
    vgpu = Vgpu(mediated)
    vgpu.enter(CARD)
    device = vgpu.create(CARD, wanted("a", "NVIDIA L40S-12Q"), {})
    create = mediated / "class/mdev_bus" / ADDRESS / "mdev_supported_types/nvidia-1/create"
    assert create.read_text() == device
    made = mediated / "bus/mdev/devices" / device
    made.mkdir()
    create.write_text("")
    assert vgpu.create(CARD, wanted("a", "NVIDIA L40S-12Q"), {}) == device
    assert create.read_text() == "", "it was not made twice"
    (made / "remove").touch()
    vgpu.delete(CARD, "a", share(device), {})
    assert (made / "remove").read_text() == "1"


def test_a_type_that_is_used_up_or_unknown_is_refused(mediated):
    for profile in ("L40S-24C", "L40S-96Q"):
        with pytest.raises(Refused, match="can be made"):
            Vgpu(mediated).create(CARD, wanted("a", profile), {})


def test_virtual_functions_are_given_a_type_and_lose_it_again(functions):
    vgpu = Vgpu(functions)
    first = vgpu.create(CARD, wanted("a", "NVIDIA L40S-12Q"), {})
    second = vgpu.create(CARD, wanted("b", "NVIDIA L40S-12Q"), {"a": share(first)})
    assert (first, second) == ("vf:0000:3b:00.4", "vf:0000:3b:00.5")
    current = functions / "bus/pci/devices/0000:3b:00.4/nvidia/current_vgpu_type"
    assert current.read_text() == "1155"
    with pytest.raises(Refused):
        vgpu.create(CARD, wanted("c", "NVIDIA L40S-12Q"), {})
    with pytest.raises(Busy):
        vgpu.leave(CARD)
    vgpu.delete(CARD, "a", share(first), {})
    vgpu.delete(CARD, "b", share(second), {})
    assert current.read_text() == "0"
    vgpu.leave(CARD)
