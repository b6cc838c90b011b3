"""Schemathesis over the whole OpenAPI file: whatever is sent, no answer is an error of ours."""

import json
from urllib.parse import quote, urlencode

import pytest
import schemathesis
from django.db import transaction
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.core import NOT_SET

from portal.api.document import document
from tests.portal.api.test_isolation import UNADDRESSED, address_of

EXAMPLES = 5
"""Some sixty operations, two modes each."""

ROWLESS = UNADDRESSED | {"advice", "baseline", "capacity", "configuration", "reports", "rollout"}
"""Nouns without rows of an address of their own."""

SCHEMA = schemathesis.openapi.from_dict(json.loads(document()))
OPERATIONS = [found.ok() for found in SCHEMA.get_all_operations()]
PARTS = 4
BOUNDED = settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


def sent(who, case, uid: str):
    """The answer to one case; `uid` stands in the address in place of the generated one."""
    path = case.path
    for name, value in (case.path_parameters or {}).items():
        path = path.replace("{" + name + "}", uid or quote(str(value), safe=""))
    if case.query:
        path += "?" + urlencode(case.query, doseq=True, errors="surrogatepass")
    body = None if case.body is NOT_SET else case.body
    if body is not None and not isinstance(body, bytes):
        body = json.dumps(body)
    key = str((case.headers or {}).get("Idempotency-Key", ""))
    headers = {"Idempotency-Key": key} if key.isascii() and key.isprintable() and key else {}
    return who(case.method, path, body, **headers)


@pytest.mark.parametrize("mode", list(GenerationMode), ids=lambda m: m.value)
@pytest.mark.parametrize("part", range(PARTS))
def test_no_call_that_can_be_made_from_the_file_is_an_error_of_ours(world, part, mode):
    for asked in OPERATIONS[part::PARTS]:
        try:
            try_many(world, asked, mode)
        except schemathesis.errors.SchemathesisError:
            # Nothing wrong can be said where the file asks for nothing.
            assert mode is GenerationMode.NEGATIVE


def try_many(world, asked, mode):
    """Calls of one operation, each taken back; with addresses that exist and others."""
    noun = asked.path.split("/")[3]
    real = "" if noun in ROWLESS else address_of(world, world.own, noun)

    @BOUNDED
    @given(case=asked.as_strategy(generation_mode=mode), known=st.booleans())
    def tried(case, known):
        with transaction.atomic():
            answer = sent(world.admin, case, real if known else "")
            transaction.set_rollback(True)
        assert answer.status_code < 500, (asked.label, case.body, case.query, answer.content)
        if answer.status_code >= 400:
            assert set(answer.json()) == {"code", "message", "detail"}

    tried()
