"""Needs, places and reasons in plain words."""

from collections.abc import Mapping
from typing import Any

from django import template
from django.utils.translation import get_language, gettext_lazy, ngettext
from django.utils.translation import gettext as _

from nodeagent.protocol.inventory import Ability
from pool.lifecycle.nodes import NodeState
from pool.models.placements import Hold
from pool.models.ranks import Rank
from pool.models.requests import Request
from pool.models.slices import Slice
from pool.models.templates import Template
from pool.models.workloads import Attempt
from pool.rules.problems import Problem
from portal.templatetags.engines import decoders, encoders
from portal.templatetags.units import gigabytes, mib, number, percent

register = template.Library()

MODES = {
    "whole": gettext_lazy("whole card"),
    "mig": gettext_lazy("MIG slice"),
    "vgpu": gettext_lazy("virtual GPU"),
    "mps": gettext_lazy("shared by processes (MPS)"),
    "timeslice": gettext_lazy("shared in turns"),
    "vnpu": gettext_lazy("Ascend vNPU"),
    "amd_partition": gettext_lazy("AMD partition"),
    "host": gettext_lazy("CPU and memory only"),
}
ISOLATION = {
    "hardware": gettext_lazy("kept apart by hardware"),
    "software": gettext_lazy("kept apart by software"),
    "process": gettext_lazy("one fault can end all neighbours"),
    "none": gettext_lazy("memory is not kept apart"),
    "unknown": gettext_lazy("how well it is kept apart is not known"),
}
EXIT = {
    "finished": gettext_lazy("finished by itself"),
    "own_error": gettext_lazy("ended by its own error"),
    "oom_card": gettext_lazy("out of card memory"),
    "oom_host": gettext_lazy("out of host memory"),
    "limit": gettext_lazy("passed a limit"),
    "cancelled": gettext_lazy("cancelled"),
    "stopped": gettext_lazy("stopped by a person"),
    "preempted": gettext_lazy("gave way to other work"),
    "reclaimed": gettext_lazy("stopped because it was idle"),
    "neighbour": gettext_lazy("hit by a neighbour's fault"),
    "start_failed": gettext_lazy("could not be started"),
    "node_stopped": gettext_lazy("its node was stopped"),
    "node_lost": gettext_lazy("its node was lost"),
    "fenced": gettext_lazy("stopped because its node was cut off"),
    "killed": gettext_lazy("killed from outside"),
    "rank_died": gettext_lazy("ended because one of its parts died"),
    "impossible": gettext_lazy("no card could hold it any more"),
}


STAGES = {
    "placed": gettext_lazy("place found"),
    "starting": gettext_lazy("starting"),
    "running": gettext_lazy("running"),
    "ended": gettext_lazy("ended, being cleaned"),
    "clean": gettext_lazy("ended"),
    "lost": gettext_lazy("given up"),
    "silent": gettext_lazy("out of reach: its node says nothing"),
}


@register.simple_tag
def template_name(one: Template) -> str:
    """A template's name in the reader's language."""
    return one.name_zh if _chinese() and one.name_zh else one.name


@register.simple_tag
def template_text(one: Template) -> str:
    """A template's description in the reader's language."""
    return one.description_zh if _chinese() and one.description_zh else one.description


def _chinese() -> bool:
    return (get_language() or "").startswith("zh")


PRIORITY = {
    "critical": gettext_lazy("critical"),
    "high": gettext_lazy("high"),
    "normal": gettext_lazy("normal"),
    "low": gettext_lazy("low"),
    "scavenger": gettext_lazy("only when idle"),
}


WARNINGS = {
    "many_small_slices": gettext_lazy("many small slices can slow attention kernels down"),
    "compute_not_enforced": gettext_lazy("its compute is not enforced, only its memory"),
    "neighbour_fault": gettext_lazy("a neighbour's fault can end it"),
}
DECIDERS = {
    "lead": gettext_lazy("the project lead"),
    "org_admin": gettext_lazy("the organization's admin"),
    "platform_admin": gettext_lazy("the platform's admin"),
}


@register.filter
def warning_words(warning: str) -> str:
    """What to say beside an option."""
    return str(WARNINGS.get(warning, warning))


@register.filter
def role_words(role: str) -> str:
    """Who decides."""
    return str(DECIDERS.get(role, role))


@register.filter
def step_words(request: Request) -> str:
    """Who has to decide a request next."""
    left = request.steps[request.step :]
    return role_words(left[0]) if left else _("a decision")


@register.simple_tag
def problem_words(problem: Problem) -> str:
    """What is wrong with a value, in the reader's language."""
    return _(problem.text) % problem.values if problem.values else _(problem.text)


@register.filter
def priority_words(priority: str) -> str:
    """A priority class."""
    return str(PRIORITY.get(priority, priority))


@register.filter
def mode_words(mode: str) -> str:
    """How the card is shared."""
    return str(MODES.get(mode, mode))


@register.filter
def isolation_words(isolation: str) -> str:
    """What keeps neighbours apart."""
    return str(ISOLATION.get(isolation, isolation))


@register.filter
def stage_words(rank: Rank) -> str:
    """How far one rank of a gang is, with the reason of its end; out of reach on a silent node."""
    silent = rank.node.state == NodeState.SILENT and not rank.over
    words = str(STAGES["silent" if silent else rank.stage])
    return f"{words}: {exit_words(rank.exit_reason)}" if rank.exit_reason else words


@register.filter
def nodes_words(attempt: Attempt | str, state: str) -> str:
    """Where a run is: its node, or those of its ranks; of one out of reach only the silent ones."""
    if not isinstance(attempt, Attempt):
        return ""
    nodes = [one.node for one in attempt.ranks.all()] if attempt.size > 1 else [attempt.node]
    silent = [one for one in nodes if one.state == NodeState.SILENT]
    named = silent if silent and state == "unreachable" else nodes
    more = _(" and %(n)d more") % {"n": len(named) - 3} if len(named) > 3 else ""
    return ", ".join(one.name for one in named[:3]) + more


@register.filter
def rank_words(hold: Hold) -> str:
    """Which rank of a gang lies there: "rank 1 of 2"; nothing for work on one node."""
    attempt = hold.placement.attempt
    rank = attempt.ranks.filter(node=hold.node_id).first() if attempt.size > 1 else None
    return _("rank %(n)d of %(size)d") % {"n": rank.rank, "size": attempt.size} if rank else ""


@register.filter
def exit_words(reason: str) -> str:
    """Why an attempt ended."""
    return str(EXIT.get(reason, reason))


@register.filter
def need_words(need: Mapping[str, Any]) -> str:
    """A need in one phrase: "2 × 20 GB + 30 %", "1 whole card", "3g.40gb"."""
    parts = int(need.get("parts", 1) or 0)
    if parts == 0:
        return _("CPU only")
    if need.get("whole"):
        whole = ngettext("%(n)d whole card", "%(n)d whole cards", parts) % {"n": parts}
        whole += _engines(need)
        return _with_labels(whole + _lies(need), need)
    one = _one_part(need) + _engines(need)
    return _with_labels(one if parts == 1 else f"{parts} × {one}", need)


LIES = {
    "linked": gettext_lazy("linked"),
    "network": gettext_lazy("in one network"),
    "whole_nodes": gettext_lazy("on nodes of their own"),
    "spread": gettext_lazy("each on another node"),
    "anywhere": gettext_lazy("on any nodes"),
}


def _lies(need: Mapping[str, Any]) -> str:
    """How whole cards lie, after their number: ", on 2 nodes, in one network"."""
    nodes = int(need.get("nodes") or 0)
    words = [ngettext("on %(n)d node", "on %(n)d nodes", nodes) % {"n": nodes}] if nodes else []
    words += [str(LIES[need["topology"]])] if need.get("topology") in LIES else []
    return "".join(f", {one}" for one in words)


def _one_part(need: Mapping[str, Any]) -> str:
    if need.get("profile"):
        return str(need["profile"])
    if need.get("share_milli"):
        return _("%(share)s of a card") % {"share": number(need["share_milli"] / 1000, 2)}
    sizes = []
    if need.get("memory_gb"):
        sizes.append(gigabytes(need["memory_gb"]))
    if need.get("memory_mib"):
        sizes.append(mib(need["memory_mib"]))
    if need.get("compute_milli"):
        sizes.append(percent(need["compute_milli"]))
    return " + ".join(sizes) or _("any part of a card")


def _engines(need: Mapping[str, Any]) -> str:
    """Video engines that each part has to itself: " + 1 video encoder"."""
    said = []
    if need.get("encoder_units"):
        said.append(encoders(need["encoder_units"]))
    if need.get("decoder_units"):
        said.append(decoders(need["decoder_units"]))
    return "".join(f" + {one}" for one in said)


def _with_labels(words: str, need: Mapping[str, Any]) -> str:
    labels = [str(one) for one in need.get("labels") or ()]
    return (
        _("%(what)s of %(cards)s") % {"what": words, "cards": " / ".join(labels)}
        if labels
        else words
    )


@register.filter
def place_words(one: Slice) -> str:
    """Where a slice lies on its card's own axis."""
    first, last = one.span.lower, one.span.upper - 1
    if first == last:
        return _("place %(n)d") % {"n": first}
    return _("places %(first)d–%(last)d") % {"first": first, "last": last}


CARD_REASONS = {
    "clean_period": gettext_lazy("closed for a while to see whether its error comes again"),
    "reset_needed": gettext_lazy("an error needs the card to be reset before it can be used"),
}


@register.filter
def card_reason_words(reason: str) -> str:
    """Why a card is closed; what a person wrote stays as it is."""
    return str(CARD_REASONS.get(reason, reason))


KEEPERS = {
    "hardware": gettext_lazy("the hardware"),
    "driver": gettext_lazy("the driver"),
    "daemon": gettext_lazy("the sharing service"),
    "preload": gettext_lazy("a library in the job"),
    "sampling": gettext_lazy("measuring, and stopping what is over"),
    "none": gettext_lazy("no one"),
}


@register.filter
def ability_words(one: Ability) -> str:
    """Who holds a slice of this mode to its memory and to its compute."""
    return _("%(mode)s: memory by %(memory)s, compute by %(compute)s") % {
        "mode": mode_words(one.mode),
        "memory": KEEPERS.get(one.memory, one.memory),
        "compute": KEEPERS.get(one.compute, one.compute),
    }
