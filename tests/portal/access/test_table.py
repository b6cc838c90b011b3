"""One table says who may do what; the document is written from it."""

from django.core.management import call_command

from pool.lifecycle.roles import Role
from portal.access.roles import MAY, Verb
from portal.access.table import rights_table


def test_the_document_says_what_the_code_does():
    call_command("rights", check=True)


def test_every_verb_and_role_is_in_the_table_and_the_platform_may_everything():
    table = rights_table()
    assert all(f"`{verb}`" in table for verb in Verb)
    assert all(f"`{role}`" in table for role in Role)
    assert MAY[Role.PLATFORM_ADMIN] == frozenset(Verb)
    assert set(MAY) == set(Role)
