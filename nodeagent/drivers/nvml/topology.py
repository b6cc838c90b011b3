"""How the cards of one node hang together: common switches, NVLink, and one NVSwitch domain."""

from typing import Any

import pynvml
from msgspec.structs import replace

from nodeagent.drivers.nvml.read import known, text
from nodeagent.protocol.inventory import Card, Link

SCORES = {0: 60, 10: 50, 20: 40, 30: 30, 40: 20, 50: 10}
"""Pair score by the nearest common ancestor: same board, one switch … another socket."""

NVLINK_SCORE = 100
SWITCH = 2
"""What the far end of a link is when it is an NVSwitch."""


def linked(found: tuple[tuple[Card, Any], ...]) -> tuple[tuple[Card, Any], ...]:
    """The same cards, each with its paths to the others and its domain."""
    ports = {card.uuid: _ports(handle) for card, handle in found}
    fabrics = _fabrics(found, ports)
    rows = []
    for card, handle in found:
        links = tuple(
            _link(card, handle, other, far, ports, fabrics)
            for other, far in found
            if other.uuid != card.uuid
        )
        rows.append((replace(card, links=links), handle))
    domains = _domains(tuple(card for card, _ in rows))
    return tuple(
        (replace(card, domain=fabrics[card.uuid] or domains[card.uuid]), handle)
        for card, handle in rows
    )


def _ports(handle: Any) -> list[str]:
    """The far end of each NVLink that is up: a card's bus id, or "" for a switch."""
    ends: list[str] = []
    for link in range(pynvml.NVML_NVLINK_MAX_LINKS):
        up = known(lambda n=link: pynvml.nvmlDeviceGetNvLinkState(handle, n))  # type: ignore[misc]
        if up is None:
            break
        if up != pynvml.NVML_FEATURE_ENABLED:
            continue
        kind = known(lambda n=link: pynvml.nvmlDeviceGetNvLinkRemoteDeviceType(handle, n))  # type: ignore[misc]
        if kind == SWITCH:
            ends.append("")
            continue
        far = known(lambda n=link: pynvml.nvmlDeviceGetNvLinkRemotePciInfo(handle, n))  # type: ignore[misc]
        if far is not None:
            ends.append(text(far.busId))
    return ends


def _fabrics(
    found: tuple[tuple[Card, Any], ...], ports: dict[str, list[str]]
) -> dict[str, str | None]:
    """The fabric of each card. Of older switches no driver tells one: cards of one node whose
    links all end at switches are taken to reach each other over them.
    """
    told = {card.uuid: _fabric(handle) for card, handle in found}
    switched = sorted(u for u, ends in ports.items() if told[u] is None and ends and not any(ends))
    if len(switched) > 1:
        told |= dict.fromkeys(switched, f"nvswitch/{switched[0]}")
    return {uuid: name or None for uuid, name in told.items()}


def _fabric(handle: Any) -> str | None:
    """One name for all cards behind the same switches; None where the driver tells of no fabric,
    empty while there is one that did not come up: its cards do not reach each other.
    """
    info = pynvml.c_nvmlGpuFabricInfo_v2_t()
    if known(lambda: pynvml.nvmlDeviceGetGpuFabricInfoV(handle, pynvml.byref(info))) is None:
        return None
    if info.state == pynvml.NVML_GPU_FABRIC_STATE_NOT_SUPPORTED:
        return None
    if info.state != pynvml.NVML_GPU_FABRIC_STATE_COMPLETED:
        return ""
    return f"nvswitch/{bytes(info.clusterUuid).hex()}/{info.cliqueId}"


def _link(
    card: Card,
    handle: Any,
    other: Card,
    far: Any,
    ports: dict[str, list[str]],
    fabrics: dict[str, str | None],
) -> Link:
    level = known(lambda: pynvml.nvmlDeviceGetTopologyCommonAncestor(handle, far))
    straight = sum(1 for end in ports[card.uuid] if end and end == other.pci)
    if fabrics[card.uuid] is not None and fabrics[card.uuid] == fabrics[other.uuid]:
        straight = min(ports[card.uuid].count(""), ports[other.uuid].count(""))
    score = SCORES.get(-1 if level is None else level, SCORES[50])
    return Link(other.uuid, score + NVLINK_SCORE * straight, straight)


def _domains(cards: tuple[Card, ...]) -> dict[str, str | None]:
    """Cards that reach each other by NVLink share a name, the first one's."""
    domains: dict[str, str | None] = {card.uuid: None for card in cards}
    for card in cards:
        near = {link.peer for link in card.links if link.nvlinks}
        if near and domains[card.uuid] is None:
            named = next((domains[peer] for peer in sorted(near) if domains[peer]), None)
            domains[card.uuid] = named or f"nvlink/{card.uuid}"
    return domains
