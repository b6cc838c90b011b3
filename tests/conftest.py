"""Fixtures that every room's tests share: the engines, the books' promises, the house."""

import atexit
import os
from collections.abc import Iterator

import pytest

from tests.engines import Engines

ENGINES = Engines()
atexit.register(ENGINES.over)

# Settings read these when Django is set up; no engine runs before a test asks for one.
os.environ["DJANGO_SETTINGS_MODULE"] = "portal.settings.test"
os.environ["DATABASE_URL"] = ENGINES.postgres.url
os.environ["REDIS_URL"] = ENGINES.valkey.url
os.environ["GPUPOOL_DATA_DIR"] = str(ENGINES.folder / "data")

import django  # noqa: E402 - the environment above comes first

django.setup()

from tests.house import House  # noqa: E402 - it knows the states of the pool


@pytest.fixture(scope="session")
def engines() -> Engines:
    """Both real servers, running."""
    ENGINES.started()
    return ENGINES


@pytest.fixture(scope="session")
def valkey(engines: Engines) -> str:
    """The address of this process's own broker."""
    return engines.valkey.url


@pytest.fixture(scope="session")
def django_db_setup(engines: Engines, django_db_blocker) -> Iterator[None]:
    """This process's own database, migrated."""
    from django.apps import apps
    from django.core.management import call_command
    from django.db import connection
    from django.db.models.signals import post_migrate

    with django_db_blocker.unblock():
        engines.postgres.create_database()
        call_command("migrate", interactive=False, verbosity=0)
        call_command("createcachetable", verbosity=0)
    pool = apps.get_app_config("pool")
    post_migrate.connect(as_migrated, sender=pool)
    yield
    post_migrate.disconnect(as_migrated, sender=pool)
    with django_db_blocker.unblock():
        connection.close()


def as_migrated(**_: object) -> None:
    """A flush ends every test that commits; it knows neither the log nor the first row."""
    from django.db import connection

    from pool.models.installation import Installation

    Installation.objects.get_or_create(pk=1)
    with connection.cursor() as cursor:
        cursor.execute("SET session_replication_role = replica")
        cursor.execute(
            "TRUNCATE pool_event, pool_sample, pool_rollup_minute, pool_rollup_hour,"
            " billing_posting, billing_entry"
        )
        cursor.execute("SET session_replication_role = DEFAULT")


def pytest_configure(config: pytest.Config) -> None:
    """Workers of xdist inherit the environment; they must not set Django up for our engines."""
    if getattr(config.option, "numprocesses", None):
        os.environ.pop("DJANGO_SETTINGS_MODULE")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What starts the whole stack is marked so, wherever it lies; `make test` runs it alone."""
    for item in items:
        if {"flows", "drills"} & set(item.path.parts):
            item.add_marker(pytest.mark.flow)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> Iterator[None]:
    """After each test that touched the database the books must keep their promises.

    Tests that make or break them by hand say so with the marker `handmade_books`; a failed test
    is not judged twice.
    """
    used = {"db", "transactional_db"} & set(getattr(item, "fixturenames", ()))
    used = used or item.get_closest_marker("django_db")
    marked = item.get_closest_marker("handmade_books") or getattr(item, "went_wrong", False)
    found: list[str] = []
    if used and not marked:
        from pool.cycle.audit import breaches_now

        found = breaches_now()
    yield
    assert found == []


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]):
    """Remember on the item whether its body went wrong or was never run."""
    report = yield
    if report.when in {"setup", "call"} and not report.passed:
        item.went_wrong = True  # type: ignore[attr-defined]
    return report


@pytest.fixture(scope="session")
def house() -> Iterator[House]:
    """The one real stack of a run, with eight simulated cards; its tests are of group `stack`."""
    made = House()
    try:
        yield made.ready()
    finally:
        made.over()
