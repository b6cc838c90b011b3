"""What a lease holds: as large as its own tenant can get it, whoever else could have it smaller."""

import pytest

from pool.rules.needs import to_mapping
from pool.selectors.leases import lease_takes
from pool.selectors.offers import host_of
from pool.services.decisions import request_approve
from pool.services.quotatree.counting import held_already
from pool.services.requests import request_submit
from pool.services.wishes import wish_judged
from tests import factories as make
from tests import rows

pytestmark = pytest.mark.django_db


@pytest.fixture
def world():
    """A place where only others may share a card softly: the tenant gets slices of hardware."""
    made = make.World()
    made.partition.trust_groups.add(rows.trust_group())
    return made


def asked(world):
    return request_submit(
        user=world.member,
        project=world.project,
        template_version=world.finetune,
        need={"memory_gb": 10},
        weights=make.FREE,
        actor=make.by(world.member),
    )


def wished(world, **need):
    return wish_judged(project=world.project, template_version=world.finetune, overrides=need)


def test_a_lease_takes_smaller_work_that_gets_the_same_slice_of_hardware(world):
    lease = request_approve(request=asked(world), user=world.lead, actor=make.by(world.lead)).lease
    wish = wished(world, memory_gb=9)
    host = host_of(need=wish.need, options=wish.options)
    assert to_mapping(wish.need) != lease.need
    assert lease_takes(lease=lease, need=wish.need, micro=wish.micro, host=host)


@pytest.mark.handmade_books
def test_a_row_that_is_counted_anew_holds_what_the_tenant_would_get(world):
    asked(world)
    row = make.quota(world.project, world.partition, 8, kind="entitlement")
    assert held_already(row) == wished(world, memory_gb=10).micro
