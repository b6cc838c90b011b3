"""An agent of the version before, by the bodies it sent: it is served, or plainly refused."""

import json
from dataclasses import dataclass, field
from pathlib import Path

import jsonschema
import pytest
from django.test import Client

from nodeagent.protocol.version import GIVEN_WAY, NOTEBOOK_WAY
from pool.clock import now
from pool.cycle.round import run_rounds
from pool.events import SYSTEM
from pool.models import Attempt, Hold, LogChunk, Node, Sample
from pool.models.catalogue.secrets import Secret
from pool.models.catalogue.uses import SecretUse
from pool.sealing import seal
from pool.services.nodes import join_token_issue
from tests import rows

pytestmark = pytest.mark.django_db
RECORDED = Path(__file__).with_name("recorded")
SAID = json.loads((RECORDED / "agent_first.json").read_text())
READS = json.loads((RECORDED / "agent_first_reads.json").read_text())["$defs"]
GROWN = ("rank", "port", "notice", "origin", "notebook", "errors", "places", "unclean", "removed")


@dataclass
class OldAgent:
    """Says what was recorded, with the names and numbers of the work that it is wanted to run."""

    credential: str = ""
    names: dict = field(default_factory=dict)

    def ask(self, method, path, body=b""):
        headers = {"Authorization": f"Bearer {self.credential}"} if self.credential else {}
        kind = "application/json"
        client = Client(raise_request_exception=False)
        return client.generic(method, f"/gate/v1/{path}", body, content_type=kind, headers=headers)

    def say(self, path, name, **changes):
        text = json.dumps(SAID[name] | changes)
        for was, then in self.names.items():
            text = text.replace(json.dumps(was), json.dumps(then))
        return self.ask("POST", path, text.encode())

    def reads(self, answer, kind):
        """What it makes of an answer: unknown words are passed over, known ones must fit."""
        found = json.loads(answer.content)
        jsonschema.validate(found, {"$ref": f"#/$defs/{kind}", "$defs": READS})
        return found

    def joined(self):
        _, token = join_token_issue(node="test-node", actor=SYSTEM)
        self.names["TOKEN"] = token
        answer = self.say("join", "join")
        assert answer.status_code == 201, answer.content
        self.credential = self.reads(answer, "Joined")["credential"]
        welcome = self.reads(self.say("hello", "hello"), "Welcome")
        assert (welcome["protocol"], welcome["epoch"]) == (1, 1)
        return Node.objects.get(name="test-node")

    def pulled(self):
        return self.reads(self.ask("GET", "desired?epoch=0&since=0"), "Desired")

    def takes(self, wish):
        """The recorded names become those of this wish."""
        (slice_,) = wish["slices"]
        (work,) = wish["work"]
        self.names |= {"sl-1": slice_["uid"], "at-1": work["attempt"]}
        self.names |= {"wl-at-1": work["workload"]}
        return {"slices": [SAID["report_running"]["slices"][0] | {"start": slice_["start"]}]}


@pytest.fixture
def old():
    made = OldAgent()
    part = rows.partition()
    made.node = made.joined()
    made.into = rows.project()
    rows.quota(limit=1_000_000, label="A100-80GB", project=made.into, partition=part)
    return made


def submitted(old, **given):
    work = rows.workload(into=old.into, need={"profile": "1g.10gb"}, **given)
    run_rounds()
    return work


def test_the_recording_is_of_the_version_before():
    """None of the words that came later is in it."""
    told = [
        *SAID["report_ended"],
        *SAID["report_ended"]["work"][0],
        *SAID["report_ended"]["cards"][0],
    ]
    assert not set(GROWN).intersection(told)


def test_a_job_is_wanted_runs_speaks_is_measured_and_ends_at_an_agent_of_the_version_before(old):
    work = submitted(old)
    wish = old.pulled()
    assert (wish["work"][0]["command"], wish["work"][0]["runner"]) == (["true"], "process")
    told = old.takes(wish)
    number = {"generation": wish["generation"]}
    old.reads(old.say("report", "report_idle"), "Taken")
    old.reads(old.say("report", "report_running", **told, **number), "Taken")
    work.refresh_from_db()
    assert work.state == "running"
    assert old.say("logs", "logs").status_code == 204
    assert old.say("samples", "samples").status_code in (200, 204), "any 2xx will do for it"
    run = Attempt.objects.get(workload=work)
    assert LogChunk.objects.get(attempt=run).text == "step 1\n"
    rows_ = Sample.objects.filter(memory_mib_mean=4864.0)
    assert rows_.count() == 2
    assert rows_.filter(pcie_width=None, net_mib_s=None).count() == 2, "words it does not know"
    taken = old.reads(old.say("report", "report_ended", **told, **number), "Taken")
    work.refresh_from_db()
    assert (work.state, work.exit_code, work.exit_reason) == ("failed", 3, "own_error")
    assert taken["closed"] == [run.uid] or old.pulled()["closed"] == [run.uid]
    assert not Hold.objects.filter(held__upper_inf=True).exists()


def test_work_that_is_given_secrets_is_refused_by_an_old_agent_and_never_run_without_them(old):
    work = rows.workload(into=old.into, need={"profile": "1g.10gb"})
    secret = Secret.objects.create(project=old.into, name="token", sealed=seal("s"), set_at=now())
    SecretUse.objects.create(workload=work, secret=secret, form="env", name="TOKEN_OF_MINE")
    run_rounds()
    (wanted,) = old.pulled()["work"]
    assert wanted["runner"] == GIVEN_WAY and GIVEN_WAY not in old.node.host["runners"]
    newer = old.node.host | {"runners": [*old.node.host["runners"], GIVEN_WAY]}
    Node.objects.filter(pk=old.node.pk).update(host=newer)
    (wanted,) = old.pulled()["work"]
    assert (wanted["runner"], wanted["secret_env"]) == ("process", {"TOKEN_OF_MINE": "s"})


def test_a_notebook_is_refused_by_an_agent_that_does_not_know_what_one_is(old):
    submitted(old, kind="notebook")
    (wanted,) = old.pulled()["work"]
    assert (wanted["kind"], wanted["runner"]) == ("notebook", NOTEBOOK_WAY)


@pytest.mark.parametrize("protocol", [0, 2])
def test_another_number_is_refused_with_those_that_are_spoken(old, protocol):
    answer = old.say("hello", "hello", protocol=protocol)
    assert answer.status_code == 426
    assert answer.json()["detail"] == {"offered": protocol, "spoken": [1]}
    assert old.say("hello", "hello").status_code == 200
