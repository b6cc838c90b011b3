"""A notebook's owner lets the project read it until a time, and ends that."""

from datetime import timedelta

import pytest

from pool.clock import now
from pool.errors import Forbidden, Invalid
from pool.events import SYSTEM
from pool.models import Event, NotebookShare
from pool.selectors.notebooks.shares import share_open
from pool.services.notebooks.shares import notebook_share, notebook_unshare
from tests import rows

pytestmark = pytest.mark.django_db


@pytest.fixture
def work():
    return rows.workload(kind="notebook", command=["jupyter", "lab"])


def shared(work, **after):
    return notebook_share(
        workload=work, user=work.owner, until=now() + timedelta(**after), actor=SYSTEM
    )


def test_one_share_holds_at_a_time_and_each_is_an_event(work):
    first = shared(work, days=1)
    second = shared(work, days=2)
    assert share_open(workload=work) == second
    first.refresh_from_db()
    assert first.ended_at is not None
    assert notebook_unshare(workload=work, actor=SYSTEM)
    assert not notebook_unshare(workload=work, actor=SYSTEM)
    assert share_open(workload=work) is None
    told = Event.objects.filter(kind="notebook.shared").order_by("pk")
    assert [one.data["shared"] for one in told] == [True, True, False]


def test_it_is_over_at_its_time(work):
    shared(work, days=1)
    NotebookShare.objects.update(until=now())
    assert share_open(workload=work) is None


@pytest.mark.parametrize("after", [{"days": 31}, {"seconds": -1}])
def test_it_lasts_at_most_thirty_days(work, after):
    with pytest.raises(Invalid) as refused:
        shared(work, **after)
    assert "30 days" in str(refused.value.detail)


def test_only_the_owner_shares_and_only_notebooks(work):
    lead = rows.member(work.project, role="lead")
    with pytest.raises(Forbidden):
        notebook_share(workload=work, user=lead, until=now() + timedelta(days=1), actor=SYSTEM)
    with pytest.raises(Invalid):
        shared(rows.workload(into=work.project), days=1)
