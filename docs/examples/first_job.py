#!/usr/bin/env python3
"""The main job over REST, with nothing but Python's standard library.

A member asks for more than the project's allowance; the lead approves; the job runs, its log is
followed, its exit code and cost are printed. Then the member runs a second job inside the
allowance, which asks nobody.

    python first_job.py --url http://127.0.0.1:8000 --credentials .data/credentials.json
"""

import argparse
import json
import sys
import time
import urllib.error
import urllib.request
import uuid
from pathlib import Path
from typing import Any

MICRO = 1_000_000
TEMPLATE = "finetune-20g-30"
WHOLE_CARDS = "train-whole-card"
PATIENCE_S = 120
WORK = """
import os, time
print("hello from", os.uname().nodename, flush=True)
for step in range(1, 4):
    print("step", step, "of 3", flush=True)
    time.sleep(0.5)
print("done", flush=True)
"""


class Failed(Exception):
    """A step did not do what it should; the text says which and why."""


class Portal:
    """One person's access to the portal by an API token."""

    def __init__(self, url: str, token: str) -> None:
        self._api = url.rstrip("/") + "/api/v1/"
        self._token = token

    def get(self, path: str) -> Any:
        """What is at the address."""
        with self._open("GET", path) as answer:
            return json.load(answer)

    def post(self, path: str, body: dict[str, Any]) -> Any:
        """The answer to a POST. Its key makes it safe to send again: it is done once."""
        key = str(uuid.uuid4())
        for last in (False, False, True):
            try:
                with self._open("POST", path, body, key) as answer:
                    return json.load(answer)
            except urllib.error.URLError as away:
                if last or isinstance(away, urllib.error.HTTPError):
                    raise
                time.sleep(1)
        raise AssertionError("not reached")

    def follow(self, path: str) -> None:
        """Print a log while it is written."""
        with self._open("GET", path) as answer:
            for line in answer:
                print("   |", line.decode("utf-8", "replace").rstrip("\n"), flush=True)

    def _open(
        self, method: str, path: str, body: dict[str, Any] | None = None, key: str = ""
    ) -> Any:
        request = urllib.request.Request(  # noqa: S310 - the person at the keyboard gave the address
            self._api + path,
            method=method,
            data=None if body is None else json.dumps(body).encode(),
        )
        request.add_header("Authorization", f"Bearer {self._token}")
        request.add_header("Content-Type", "application/json")
        if key:
            request.add_header("Idempotency-Key", key)
        try:
            return urllib.request.urlopen(request, timeout=PATIENCE_S)  # noqa: S310
        except urllib.error.HTTPError as refused:
            said = refused.read().decode("utf-8", "replace")
            raise Failed(f"{method} {path} was answered {refused.code}: {said}") from refused


def main() -> int:
    """Do both jobs; 0 only when every step went well."""
    given = options()
    try:
        people = credentials(Path(given.credentials))
        member = Portal(given.url, people["member"]["token"])
        lead = Portal(given.url, people["lead"]["token"])
        project = people["member"]["project"]
        if not project:
            raise Failed("the member in the credentials file has no project")
        asked_job(member, lead, project)
        allowed_job(member, project, given.template)
    except Failed as failed:
        print(f"failed: {failed}", file=sys.stderr)
        return 1
    except (OSError, KeyError, ValueError) as broken:
        print(f"failed: {type(broken).__name__}: {broken}", file=sys.stderr)
        return 1
    print("Both jobs are done.")
    return 0


def asked_job(member: Portal, lead: Portal, project: str) -> None:
    """A job larger than the allowance: it waits until the lead says yes."""
    cards = beyond_allowance(member, project)
    print(f"1. Ask for {cards} whole card(s), which is more than the allowance of {project}.")
    job = submit(member, project, WHOLE_CARDS, need={"parts": cards})
    expect(job["state"] == "awaiting_approval", f"the job should wait for a word: {job['state']}")
    request = job["request"]
    print(f"   job {job['uid']} waits for request {request}")
    waiting = lead.get("requests?to_decide=true&page_size=200")["results"]
    expect(any(r["uid"] == request for r in waiting), "the lead does not see the request")
    decided = lead.post(f"requests/{request}/approve", {"reason": "Go ahead."})
    expect(decided["state"] == "approved", f"the request should be approved: {decided['state']}")
    print(f"   approved by {decided['decided_by']}, lease {decided['lease']}")
    finish(member, job["uid"])


def allowed_job(member: Portal, project: str, template: str) -> None:
    """A job inside the allowance: nobody is asked."""
    print("2. A second job, inside the allowance.")
    job = submit(member, project, template, need={})
    expect(job["request"] is None, f"nobody should have been asked: request {job['request']}")
    print(f"   job {job['uid']} is {job['state']}")
    finish(member, job["uid"])


def beyond_allowance(portal: Portal, project: str) -> int:
    """The smallest number of whole cards that no allowance of the project covers."""
    rows = portal.get(f"quotas?kind=allowance&unit=cards_micro&project={project}&page_size=200")
    most = max((row["limit"] for row in rows["results"]), default=0)
    return int(most // MICRO) + 1


def submit(portal: Portal, project: str, template: str, need: dict[str, Any]) -> Any:
    """A small job: Python prints a few lines."""
    return portal.post(
        "workloads",
        {
            "kind": "job",
            "project": project,
            "template": template,
            "name": "first-job",
            "command": ["python3", "-c", WORK],
            "expected_seconds": 60,
            "need": need,
        },
    )


def finish(portal: Portal, uid: str) -> None:
    """Follow the log to the end; print exit code and cost; anything but success is a failure."""
    portal.follow(f"workloads/{uid}/logs?follow=1")
    job = ended(portal, uid)
    cost = job["cost"]
    expect(cost["amount_micro"] is not None, "no price is known for it")
    amount = cost["amount_micro"] / MICRO
    print(f"   state {job['state']}, exit code {job['exit_code']}, reason {job['exit_reason']}")
    print(f"   cost {amount:.6f} {cost['currency']} for {cost['card_seconds']:.1f} card seconds")
    expect(job["state"] == "succeeded" and job["exit_code"] == 0, f"the job did not succeed: {job}")


def ended(portal: Portal, uid: str) -> Any:
    """The workload once it is over and its cards are given back."""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        job = portal.get(f"workloads/{uid}")
        if job["ended_at"] and not job["cost"]["running"]:
            return job
        expect(time.monotonic() < deadline, f"the job is still {job['state']}: {job['waits']}")
        time.sleep(0.2)


def expect(met: bool, otherwise: str) -> None:
    """Go on only when it is so."""
    if not met:
        raise Failed(otherwise)


def credentials(path: Path) -> dict[str, dict[str, Any]]:
    """The first member and the lead of the same project, from the file of the first start."""
    rows = json.loads(path.read_text(encoding="utf-8"))
    people: dict[str, dict[str, Any]] = {}
    for role in ("member", "lead"):
        home = people["member"]["project"] if people else None
        fits = [r for r in rows if r["role"] == role and home in (None, r["project"])]
        expect(bool(fits) and bool(fits[0]["token"]), f"{path} names no {role} with a token")
        people[role] = fits[0]
    return people


def options() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", 1)[0])
    parser.add_argument("--url", required=True, help="address of the portal")
    parser.add_argument("--credentials", required=True, help="credentials.json of the first start")
    parser.add_argument("--template", default=TEMPLATE, help=f"default: {TEMPLATE}")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
