"""Two callers who make the same thing at once: one makes it, the other is told why not."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.db import connection

from pool.models import Membership, Organization, User
from tests.portal.callers import caller

pytestmark = pytest.mark.django_db(transaction=True)


def test_one_of_two_simultaneous_creates_is_refused_in_the_envelope():
    admin = User.objects.create(username="root")
    Membership.objects.create(user=admin, role="platform_admin")
    asked = caller(admin)
    start = Barrier(6)

    def create(_number):
        try:
            start.wait()
            body = {"slug": "twin", "name": "Twin"}
            return asked.post("organizations", body)
        finally:
            connection.close()

    with ThreadPoolExecutor(6) as threads:
        answers = list(threads.map(create, range(6)))
    codes = sorted(answer.status_code for answer in answers)
    assert codes[0] == 201
    assert set(codes[1:]) <= {400, 409}
    assert Organization.objects.filter(slug="twin").count() == 1
