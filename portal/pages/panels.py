"""The live parts of pages, by topic: who may see one, and what it looks like now."""

from django.template.loader import render_to_string

from pool.lifecycle.roles import Role
from pool.models.users import User
from pool.models.workloads import Workload
from pool.selectors.memberships import Standing, standing
from pool.selectors.requests import request_list
from pool.selectors.workloads import workload_list
from pool.topics import BELL, bell_topic
from portal.access.guards import may
from portal.access.roles import Verb
from portal.access.showback import money_hidden
from portal.pages import home, map, workloads
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
    if not user.is_active:
        return None
    held = standing(user=user)
    noun, _, uid = topic.partition(":")
    if topic in OWN or topic == bell_topic(user.uid):
        return f"user:{user.pk}"
    if topic == "pool":
        return _circle(held)
    if topic == QUEUE:
        return "anybody"
    if noun in {"workload", "log"}:
        return _workload_key(held, uid)
    if noun == "request" and request_list(standing=held).filter(uid=uid).exists():
        return "reader"
    return None


def panel_render(user: User, topic: str) -> str:
    """The fragment of the page that shows the topic; empty where the page asks again by itself."""
    held = standing(user=user)
    noun, _, uid = topic.partition(":")
    if topic == "home":
        context = home.live_context(user=user, standing=held)
        return render_to_string("pages/home/_live.html", context)
    if topic == "pool":
        return render_to_string("pages/map/_live.html", map.live_context(standing=held))
    if noun == BELL:
        return render_to_string("pages/notices/_bell.html", inbox.bell_context(user))
    if noun == "workload":
        workload = workload_list(standing=held).get(uid=uid)
        if workload.array_size:
            live = array_context(workload, standing=held)
            return render_to_string("pages/series/_array.html", live)
        context = workloads.live_context(workload, standing=held)
        return render_to_string("pages/workloads/_live.html", context)
    return ""


def _workload_key(held: Standing, uid: str) -> str | None:
    """Readers and those who may stop it see different buttons, and not all read what it costs."""
    found: Workload | None = workload_list(standing=held).filter(uid=uid).first()
    if found is None:
        return None
    role = "stopper" if may(held, Verb.WORK_STOP, found) else "reader"
    moneyless = found.project.organization_id in money_hidden(held)
    return f"{role} without money" if moneyless else role


def _circle(held: Standing) -> str:
    """Whose names one may read on the map."""
    if held.platform:
        return "platform"
    projects = held.in_projects(Role.LEAD, Role.MEMBER, Role.VIEWER)
    organizations = held.in_organizations(Role.ORG_ADMIN)
    return f"projects:{sorted(projects)} organizations:{sorted(organizations)}"
