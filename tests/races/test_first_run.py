"""Two installers at once."""

import pytest

from pool.models import JoinToken, Organization, User
from portal.first_run.people import PEOPLE
from tests.portal.first_run.calls import run, told
from tests.races.test_rounds import together


@pytest.mark.django_db(transaction=True)
def test_two_first_runs_at_once_make_one_installation(tmp_path):
    assert together(lambda: run(tmp_path), lambda: run(tmp_path)) == [None, None]
    assert User.objects.count() == len(PEOPLE)
    assert Organization.objects.count() == 2
    assert all(User.objects.get(username=e["username"]) for e in told(tmp_path))
    assert JoinToken.objects.count() == 5
