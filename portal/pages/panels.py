"""The live parts of pages, by topic: who may see one, and what it looks like now."""

import json
from collections.abc import Callable

from django.template.loader import render_to_string

from pool.lifecycle.roles import Role
from pool.models.cards import Card
from pool.models.nodes import Node
from pool.models.users import User
from pool.models.workloads import Workload
from pool.selectors.memberships import Standing, standing
from pool.selectors.requests import request_list
from pool.selectors.telemetry.use import cards_use, load_now
from pool.selectors.workloads import workload_list
from pool.topics import BELL, LOAD, POOL, USE, bell_topic
from portal.access.guards import may
from portal.access.roles import Verb
from portal.access.showback import money_hidden
from portal.pages import home, map, nodes, workloads
from portal.pages.notices import inbox
from portal.pages.series.arrays import array_context

QUEUE = "queue"
"""Has no picture: it pokes the list, which asks again for what its reader may see."""

OWN = ("home", "alerts", "approvals", "notebooks", "warnings")
"""Topics of this person alone; `approvals` and `alerts` have no picture, they only poke a list."""


def panel_key(user: User, topic: str) -> str | None:
    """The permission class of a topic for a person, None where it is not theirs to know.

    People with the same key are shown the same bytes.
    """
    if not user.is_active or "\0" in topic:
        return None
    if topic in OWN or topic == bell_topic(user.uid):
        return f"user:{user.pk}"
    if topic == QUEUE:
        return "anybody"
    noun, _, uid = topic.partition(":")
    judge = _JUDGES.get(noun)
    return None if judge is None else judge(standing(user=user), uid)


def _reader_of_work(held: Standing, uid: str) -> str | None:
    return "reader" if workload_list(standing=held).filter(uid=uid).exists() else None


def _reader_of_request(held: Standing, uid: str) -> str | None:
    return "reader" if request_list(standing=held).filter(uid=uid).exists() else None


def _node_key(held: Standing, uid: str) -> str | None:
    return _circle(held) if Node.objects.filter(uid=uid).exists() else None


def _use_key(held: Standing, uid: str) -> str | None:
    """All cards' use, or one node's: the same numbers for everybody."""
    return "anybody" if not uid or Node.objects.filter(uid=uid).exists() else None


def panel_render(user: User, topic: str) -> str:
    """The fragment of the page that shows the topic; empty where the page asks again by itself."""
    noun, _, uid = topic.partition(":")
    drawer = _DRAWERS.get(noun)
    return "" if drawer is None else drawer(user, standing(user=user), uid)


def _home(user: User, held: Standing, uid: str) -> str:
    context = home.live_context(user=user, standing=held)
    return render_to_string("pages/home/_live.html", context)


def _pool(user: User, held: Standing, uid: str) -> str:
    return render_to_string("pages/map/_live.html", map.live_context(standing=held))


def _use(user: User, held: Standing, uid: str) -> str:
    """No picture but numbers, for the bars of any picture."""
    return json.dumps(cards_use(node=uid or None), separators=(",", ":"))


def _node(user: User, held: Standing, uid: str) -> str:
    context = nodes.live_context(uid, standing=held)
    return render_to_string("pages/nodes/_cards.html", context) if context else ""


def _card(user: User, held: Standing, uid: str) -> str:
    context = map.card_context(uid.partition(".")[0], standing=held)
    return render_to_string("pages/map/_card_live.html", context) if context else ""


def _load(user: User, held: Standing, uid: str) -> str:
    return render_to_string("pages/telemetry/_load.html", {"load": load_now(uid=uid)})


def _bell(user: User, held: Standing, uid: str) -> str:
    return render_to_string("pages/notices/_bell.html", inbox.bell_context(user))


def _workload(user: User, held: Standing, uid: str) -> str:
    workload = workload_list(standing=held).get(uid=uid)
    if workload.array_size:
        live = array_context(workload, standing=held)
        return render_to_string("pages/series/_array.html", live)
    context = workloads.live_context(workload, standing=held)
    return render_to_string("pages/workloads/_live.html", context)


_DRAWERS: dict[str, Callable[[User, Standing, str], str]] = {
    "home": _home,
    POOL: _pool,
    USE: _use,
    "node": _node,
    "card": _card,
    LOAD: _load,
    BELL: _bell,
    "workload": _workload,
}


def _workload_key(held: Standing, uid: str) -> str | None:
    """Readers and those who may stop it see different buttons, and not all read what it costs."""
    found: Workload | None = workload_list(standing=held).filter(uid=uid).first()
    if found is None:
        return None
    role = "stopper" if may(held, Verb.WORK_STOP, found) else "reader"
    moneyless = found.project.organization_id in money_hidden(held)
    return f"{role} without money" if moneyless else role


def _card_key(held: Standing, named: str) -> str | None:
    """Not all who see a card know for whom it is kept; `named`: its uid, a point, its node's."""
    uid, _, node = named.partition(".")
    key = Card.objects.filter(uid=uid, node__uid=node).values_list("pk", flat=True).first()
    if key is None:
        return None
    return f"{_circle(held)} kept: {map.knows_kept(held, key)}"


def _circle(held: Standing) -> str:
    """Whose names one may read on the map."""
    if held.platform:
        return "platform"
    projects = held.in_projects(Role.LEAD, Role.MEMBER, Role.VIEWER)
    organizations = held.in_organizations(Role.ORG_ADMIN)
    return f"projects:{sorted(projects)} organizations:{sorted(organizations)}"


_JUDGES: dict[str, Callable[[Standing, str], str | None]] = {
    POOL: lambda held, uid: _circle(held) if not uid else None,
    USE: _use_key,
    "node": _node_key,
    "card": _card_key,
    "workload": _workload_key,
    "log": _workload_key,
    LOAD: _reader_of_work,
    "request": _reader_of_request,
}
