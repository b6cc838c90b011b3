"""A notebook goes on in another size, by the rules of any submission."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from pool.errors import Forbidden, IllegalMove, Impossible, Invalid
from pool.events import SYSTEM
from pool.models import Event, Workload
from pool.selectors.notebooks.standing import went_on
from pool.services.notebooks.resize import notebook_resized
from pool.services.workloads import workload_resume, workload_stop
from tests import factories as make
from tests import rows

pytestmark = [pytest.mark.django_db, pytest.mark.handmade_books]


@pytest.fixture
def place():
    made = make.World()
    made.quota = make.allowance(made.project, made.partition, 2)
    made.small = make.template("small", {"parts": 1, "memory_gb": 10}, kind="notebook")
    made.larger = make.template("larger", {"parts": 1, "memory_gb": 40}, kind="notebook")
    return made


def stopped(place, state="reclaimed", **given):
    words = {"kind": "notebook", "command": ["jupyter", "lab"], "state": state} | given
    return rows.workload(into=place.project, version=place.small, owner=place.member, **words)


def larger(place, work, **given):
    words = {"workload": work, "user": work.owner, "actor": SYSTEM} | given
    return notebook_resized(template_version=place.larger, **words)


@pytest.mark.parametrize("state", ["stopped", "reclaimed", "failed"])
def test_it_is_new_work_with_the_same_files_name_and_variables(place, state):
    work = stopped(place, state, env={"A": "1"}, home="prj.usr")
    made = larger(place, work)
    made.refresh_from_db()
    work.refresh_from_db()
    assert (made.state, work.state) == ("queued", state)
    assert (made.name, made.env, made.home) == (work.name, {"A": "1"}, "prj.usr")
    assert made.need["memory_gb"] == 40
    assert went_on(made) == (work, None)
    assert went_on(work) == (None, made)
    told = Event.objects.get(kind="notebook.resized")
    assert (told.data["to"], told.data["template"]) == (
        made.uid,
        made.template_version.template.slug,
    )


def test_a_need_may_differ_within_one_template(place):
    work = stopped(place)
    made = notebook_resized(
        workload=work,
        user=work.owner,
        template_version=work.template_version,
        need={"memory_gb": 20},
        actor=SYSTEM,
    )
    assert made.need["memory_gb"] == 20


def test_what_is_beyond_the_allowance_becomes_a_request(place):
    place.quota.delete()
    work = stopped(place)
    made = larger(place, work)
    assert (made.state, made.request.requester) == ("awaiting_approval", work.owner)
    work.refresh_from_db()
    assert work.state == "reclaimed"


def test_what_no_card_holds_is_refused_and_nothing_is_written(place):
    work = stopped(place)
    with pytest.raises(Impossible):
        larger(place, work, need={"memory_gb": 900})
    assert Workload.objects.count() == 1


def test_only_its_owner_goes_on_and_only_when_it_is_over(place):
    work = stopped(place)
    version = work.template_version
    with pytest.raises(Forbidden):
        notebook_resized(
            workload=work,
            user=place.lead,
            template_version=version,
            actor=SYSTEM,
        )
    job = place.finetune
    with pytest.raises(Invalid):
        notebook_resized(workload=work, user=work.owner, template_version=job, actor=SYSTEM)
    work.state = "running"
    work.save()
    with pytest.raises(IllegalMove):
        larger(place, work)


def test_the_project_is_locked_before_the_notebook_as_everywhere(place):
    work = stopped(place)
    with CaptureQueriesContext(connection) as asked:
        larger(place, work)
    locking = [one["sql"] for one in asked if "FOR " in one["sql"] and "UPDATE" in one["sql"]]
    tables = [one.partition(' FROM "')[2].partition('"')[0] for one in locking]
    assert tables.index("pool_project") < tables.index("pool_workload")


def test_without_a_time_it_is_asked_for_as_long_as_before_if_the_template_lets_it(place):
    work = stopped(place, expected_seconds=3 * 86_400)
    most = place.larger.max_seconds
    assert larger(place, work).expected_seconds == min(3 * 86_400, most)


def test_two_with_the_same_files_are_never_wanted_together(place):
    work = stopped(place)
    made = larger(place, work)
    with pytest.raises(Invalid) as refused:
        larger(place, work)
    assert made.uid in str(refused.value.detail["notebook"])
    with pytest.raises(Invalid):
        workload_resume(workload=work, actor=SYSTEM)
    workload_stop(workload=made, actor=SYSTEM)
    assert workload_resume(workload=work, actor=SYSTEM).state == "queued"
    Workload.objects.filter(pk=made.pk).update(state="stopped")
    with pytest.raises(Invalid):
        workload_resume(workload=made, actor=SYSTEM)
