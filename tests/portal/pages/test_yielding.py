"""The workload's page about giving way, and the page of critical work."""

import pytest

from pool.cycle.round import run_rounds
from pool.models import YieldOrder
from pool.services.yielding.asked import preemption_prove
from tests.factories import by
from tests.pool.obedient import Obedient

pytestmark = pytest.mark.django_db


def running(world):
    """The tenant's own work, running on a slice of a card."""
    run_rounds()
    Obedient(world.node).turn()
    work = world.own.workload
    work.refresh_from_db()
    assert work.state == "running"
    return work


def page_of(visit, role, work):
    return visit(role).open(f"/workloads/{work.uid}/")


def test_running_work_shows_what_leaving_now_would_lose(visit, world):
    work = running(world)
    text = page_of(visit, "member", work).content.decode()
    assert "data-loss" in text
    assert "no checkpoint has been seen" in text


def test_the_owner_rehearses_and_sees_the_steps(visit, world):
    work = running(world)
    answer = visit("member").send(f"/workloads/{work.uid}/prove/")
    assert answer.status_code == 303
    assert YieldOrder.objects.get().kind == "proof"
    text = page_of(visit, "member", work).content.decode()
    assert "A rehearsal" in text and "Told to leave" in text and "Is stopped at the latest" in text


def test_only_a_platform_admin_breaks_the_glass_and_needs_a_reason(visit, world):
    work = running(world)
    address = f"/workloads/{work.uid}/preempt/"
    assert "Break glass" not in page_of(visit, "member", work).content.decode()
    assert visit("lead").send(address, {"reason": "now"}).status_code == 403
    visit("platform_admin").send(address, {"reason": " "})
    assert not YieldOrder.objects.exists()
    assert visit("platform_admin").send(address, {"reason": "fire"}).status_code == 303
    assert "fire" in page_of(visit, "member", work).content.decode()


def test_the_owner_declares_its_time_anew(visit, world):
    work = running(world)
    visit("member").send(f"/workloads/{work.uid}/declare/", {"time": "20 min"})
    work.refresh_from_db()
    assert work.expected_seconds == 1200
    preemption_prove(workload=work, actor=by(world.own.owner))
    deadline = YieldOrder.objects.get().deadline
    visit("member").send(f"/workloads/{work.uid}/declare/", {"time": "1 min"})
    assert YieldOrder.objects.get().deadline == deadline


def test_critical_hours_are_granted_on_the_organization_s_page(visit, world):
    address = f"/organizations/{world.own.organization.uid}/critical/"
    admin = visit("platform_admin")
    assert admin.send(address, {"month": "2099-01", "card_hours": "12"}).status_code == 303
    assert "12.0" in visit("org_admin").open(address).content.decode()
    assert visit("member").open(address).status_code == 403
    assert visit("stranger").open(address).status_code == 404
    assert admin.send(address, {"month": "", "card_hours": "x"}).status_code == 400
    granted = visit("org_admin").send(address, {"month": "2099-01", "card_hours": "1"})
    assert granted.status_code == 403
