"""How parts are asked whether they are well: over HTTP, from the supervisor's own machine."""

import json
import time
import urllib.error
import urllib.request
from typing import Any

TIMEOUT = 3.0
# The supervisor asks its own loopback; a proxy named in the environment must not be asked instead.
_DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def answers(url: str) -> bool:
    """Does anything speak HTTP there, whatever it says?"""
    try:
        with _DIRECT.open(url, timeout=TIMEOUT):
            return True
    except urllib.error.HTTPError:
        return True
    except OSError:
        return False


class Health:
    """The portal's own word on its parts (`/healthz`); the last answer is kept."""

    def __init__(self, url: str, token: str) -> None:
        self.request = urllib.request.Request(  # noqa: S310 - built from our own host and port
            f"{url}/healthz", headers={"Authorization": f"Bearer {token}"}
        )
        self.whole = False
        self.parts: dict[str, Any] = {}

    def ask(self) -> bool:
        """Read it anew. True when the web answered, whether or not everything is well."""
        try:
            with _DIRECT.open(self.request, timeout=TIMEOUT) as answer:
                return self._keep(answer.status, answer.read())
        except urllib.error.HTTPError as refused:
            return self._keep(refused.code, refused.read())
        except OSError:
            self.whole, self.parts = False, {}
            return False

    def _keep(self, status: int, body: bytes) -> bool:
        try:
            self.parts = dict(json.loads(body)["parts"])
        except (ValueError, KeyError, TypeError):
            self.whole, self.parts = False, {}
            return False
        self.whole = status == 200
        return True

    def well(self, part: str, detail: str = "") -> bool:
        """Was this part well at the last answer; of a part with several, the one named `detail`?"""
        found = self.parts.get(part, {})
        return bool(found.get("each", {}).get(detail, False) if detail else found.get("ok", False))

    def heard(self, node: str, *, since: float) -> bool:
        """Is the node well, and did it report after `since` (of time.monotonic)?

        What the books say of a node outlives a restart of the stack; a report does not.
        """
        seconds = self.parts.get("agents", {}).get("heard_s", {}).get(node)
        fresh = seconds is not None and seconds < time.monotonic() - since
        return fresh and self.well("agents", node)
