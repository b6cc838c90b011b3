"""The engines of the tests are the real ones."""

import pytest
import redis
from django.db import connection


@pytest.mark.django_db
def test_the_database_is_a_real_postgresql_of_this_process_only(engines):
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_setting('server_version_num')::int")
        (version,) = cursor.fetchone()
        cursor.execute("SELECT current_setting('data_directory')")
        (folder,) = cursor.fetchone()
    assert version >= 150000
    assert folder == str(engines.postgres.data)


@pytest.mark.django_db
def test_the_database_was_migrated(django_db_setup):
    assert "django_session" in connection.introspection.table_names()


def test_the_broker_is_a_real_valkey(valkey):
    link = redis.Redis.from_url(valkey)
    assert "valkey_version" in link.info("server")
    link.close()


def test_celery_reaches_the_same_broker_by_its_own_spelling(valkey):
    from portal.celery import app

    with app.connection_for_write() as link:
        link.ensure_connection(max_retries=1)
        assert link.default_channel.client.ping()
