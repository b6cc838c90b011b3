"""The world that the doors' tests look at."""

import pytest

from portal import explained, held
from portal.api import authentication
from portal.api.throttling import TokenRate
from portal.gate import auth
from portal.pages.advisor import startable
from tests.portal.world import World


@pytest.fixture(autouse=True)
def patient_doors():
    """Counters of earlier tests do not shut the doors."""
    rates = (TokenRate.rate, authentication.WRONG, auth.WRONG, auth.KNOCKS, *explained.RATES)
    for rate in (*rates, startable.TOLD):
        rate.clear()
    explained.forget()
    startable.forget()
    held.forget()


@pytest.fixture
def world(db) -> World:
    """Two tenants with one of everything."""
    return World()
