"""One real stack with a small simulated fleet, and people who work with it over REST."""

import contextlib
import http.client
import json
import shutil
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import psycopg

from pool.lifecycle.workloads import ENDED
from tests.stack import RunningStack
from tests.waiting import until

FINAL = {str(state) for state in ENDED}

NODE = "  - {{name: {name}, cpus: 64, memory_gib: 512, disk_gib: 4000, cards: [{cards}]}}\n"


def fleet_of(*nodes: str, cards: int = 4) -> str:
    """The fleet file of simulated nodes with some A100 each."""
    held = f"{{model: A100-80GB, count: {cards}}}"
    return "nodes:\n" + "".join(NODE.format(name=name, cards=held) for name in nodes)


FLEET = fleet_of("sim-a", "sim-b")


class Refused(Exception):
    """The portal answered with an error; `status` and the envelope."""

    def __init__(self, status: int, body: Any) -> None:
        self.status, self.body = status, body
        super().__init__(f"{status}: {body}")


TOO_MANY = 429


@dataclass(frozen=True)
class Rest:
    """One person with an API token."""

    port: int
    token: str

    def __call__(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        """The decoded answer of `/api/v1/<path>`.

        Raises:
            Refused: the answer is an error.
            OSError, http.client.HTTPException: nobody answers.
        """
        link = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            link.request(
                method,
                f"/api/v1/{path}",
                None if body is None else json.dumps(body),
                {
                    "Authorization": f"Bearer {self.token}",
                    "Content-Type": "application/json",
                    **headers,
                },
            )
            answer = link.getresponse()
            text = answer.read().decode()
        finally:
            link.close()
        said = json.loads(text) if "json" in (answer.headers.get("Content-Type") or "") else text
        if answer.status == TOO_MANY and (wait := int(answer.headers.get("Retry-After") or 0)):
            time.sleep(wait)  # as a well-behaved script does: a quick machine asks too often
            return self(method, path, body, **headers)
        if answer.status >= 400:
            raise Refused(answer.status, said)
        return said

    def patient(self, method: str, path: str, body: Any = None) -> Any:
        """The same for reads while parts of the stack are away: None instead of a failure."""
        with contextlib.suppress(OSError, http.client.HTTPException, Refused, ValueError):
            return self(method, path, body)
        return None

    def every(self, path: str) -> list[dict[str, Any]]:
        """All rows of a list, page after page."""
        rows: list[dict[str, Any]] = []
        following: str | None = path
        while following:
            page = self("GET", following.partition("/api/v1/")[2] or following)
            rows += page["results"]
            following = page["next"]
        return rows


class House:
    """The running stack, its people and its books."""

    def __init__(self, *options: str, fleet: str = FLEET, **changed: str) -> None:
        self.root = Path(tempfile.mkdtemp(prefix="gp-house-"))
        self.root.chmod(0o755)
        self.marks = self.root / "marks"
        self.marks.mkdir()
        self.marks.chmod(0o777)
        (self.root / "fleet.yaml").write_text(fleet)
        self.data = self.root / "data"
        self.stack = RunningStack(
            self.data,
            *("--fleet", str(self.root / "fleet.yaml"), "--work-dir", str(self.root / "work")),
            *("--first-run", "example", *options),
            **changed,
        )

    def ready(self) -> "House":
        """Return when everything is well."""
        self.stack.ready()
        return self

    @property
    def shims(self) -> list[int]:
        """The processes that each hold one attempt."""
        return self.stack.pids("nodeagent/shim.py")

    def over(self) -> None:
        """Stopped in order; nothing runs, nothing is left on disk."""
        try:
            below = self.stack.below()
            self.stack.stop()
            alive = [pid for pid in below if Path(f"/proc/{pid}/cwd").exists()]
            assert not alive, alive
        finally:
            shutil.rmtree(self.root, ignore_errors=True)

    @cached_property
    def people(self) -> list[dict[str, str]]:
        """What `credentials.json` says."""
        return list(json.loads((self.data / "credentials.json").read_text()))

    @cached_property
    def project(self) -> str:
        """The example project that has one person of every role."""
        return next(row["project"] for row in self.people if row["role"] == "member")

    def as_(self, role: str) -> Rest:
        """The person of the example project with this role."""
        (token,) = [
            row["token"]
            for row in self.people
            if row["role"] == role and row.get("project") in (None, "", self.project)
        ][:1]
        return Rest(self.stack.port, token)

    @property
    def database(self) -> str:
        """The address of the books."""
        known = json.loads((self.data / "run" / "connection.json").read_text())
        return str(known["database_url"])

    def rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        """The books themselves, read past the portal."""
        with psycopg.connect(self.database) as link:
            return link.execute(query, values).fetchall()

    def submit(self, command: str, /, *, who: Rest | None = None, **more: Any) -> str:
        """A job of one shell line in the smallest share, unless told otherwise; its uid."""
        asked = {
            "kind": "job",
            "project": self.project,
            "template": "finetune-20g-30",
            "need": {"profile": "1g.10gb"},
            "command": ["sh", "-c", command],
            "expected_seconds": 60,
            **more,
        }
        return str((who or self.as_("member"))("POST", "workloads", asked)["uid"])

    def work(self, uid: str) -> dict[str, Any] | None:
        """A workload as the portal shows it; None while nobody answers."""
        return self.as_("member").patient("GET", f"workloads/{uid}")

    def ended(self, uids: list[str], *, seconds: float = 120.0) -> dict[str, dict[str, Any]]:
        """All of them once the portal shows each as ended."""
        found: dict[str, dict[str, Any]] = {}

        def look() -> bool:
            for uid in uids:
                row = None if uid in found else self.work(uid)
                if row and row["state"] in FINAL:
                    found[uid] = row
            return len(found) == len(uids)

        self._until(look, uids, seconds)
        return found

    def all_in_state(self, uids: list[str], state: str, *, seconds: float = 60.0) -> None:
        """Wait until the portal shows each in this state."""

        def look() -> bool:
            rows = [self.work(uid) for uid in uids]
            return all(row and row["state"] == state for row in rows)

        self._until(look, uids, seconds)

    def _until(self, look: Callable[[], bool], uids: list[str], seconds: float) -> None:
        """Wait; when it does not come true, say where each of them stands and why."""
        try:
            until(look, seconds=seconds)
        except AssertionError:
            rows = [self.work(uid) for uid in uids]
            words = ("name", "state", "message", "waits", "attempts")
            told = [row and {word: row[word] for word in words} for row in rows]
            raise AssertionError(json.dumps(told, indent=1)) from None
