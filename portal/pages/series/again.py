"""The call that would run the same again, for people who copy it into a script."""

import json
import shlex
from typing import Any

from nodeagent.protocol.vocabulary import Silence
from pool.lifecycle.roles import RankDeath
from pool.models.workloads import Workload
from pool.rules.gangs import Gang


def as_rest(workload: Workload) -> str:
    """One line for a shell; what is as it would be anyway is left out."""
    sent = shlex.quote(json.dumps(rest_words(workload), ensure_ascii=False))
    headers = "-H 'Authorization: Bearer '\"$TOKEN\" -H 'Content-Type: application/json'"
    return f'curl -X POST "$URL/api/v1/workloads/" {headers} -d {sent}'


def rest_words(workload: Workload) -> dict[str, Any]:
    """The body of that call. A piece is run again as work of its own."""
    said = workload.parent or workload
    body: dict[str, Any] = {
        "kind": workload.kind,
        "project": workload.project.slug,
        "template": workload.template_version.template.slug,
        "name": workload.name,
        "command": said.command,
        "expected_seconds": workload.expected_seconds,
    }
    if workload.need != workload.template_version.need:
        body["need"] = workload.need
    usual = {
        "env": {},
        "files": {},
        "image": "",
        "comment": "",
        "silence": str(Silence.KEEP),
        "on_rank_death": str(RankDeath.FAIL),
        "rendezvous_seconds": Gang().rendezvous_seconds,
        "runs": 0,
    }
    told = {
        "env": said.env,
        "files": said.files,
        "image": workload.image,
        "comment": workload.comment,
        "silence": workload.silence,
        "on_rank_death": workload.on_rank_death,
        "rendezvous_seconds": workload.rendezvous_seconds,
        "runs": workload.runs_asked,
    }
    body |= {name: value for name, value in told.items() if value != usual[name]}
    if workload.priority != workload.template_version.priority:
        body["priority"] = workload.priority
    if workload.array_size:
        body["array"] = {"indices": workload.array_spec, "throttle": workload.array_throttle}
    return body
