"""The vendors' own programs, run as processes with argument lists, never through a shell."""

import os
import shutil
import subprocess
from collections.abc import Mapping

from nodeagent.drivers.base import Busy, NotSupported, Refused

LIMIT_S = 20.0
SAID = 300
"""Characters of a program's words that travel on as a reason."""


class Programs:
    """Finds and runs programs on one search path; the PATH of this process when none is given."""

    def __init__(self, path: str | None = None) -> None:
        self._path = path

    def has(self, name: str) -> bool:
        """Is it installed?"""
        return shutil.which(name, path=self._path) is not None

    def run(
        self,
        name: str,
        *arguments: str,
        say: str = "",
        env: Mapping[str, str] | None = None,
        limit_s: float = LIMIT_S,
    ) -> str:
        """What it prints. `say` goes to its standard input; `env` is added to this process's.

        Raises:
            NotSupported: it is not installed.
            Busy: it did not end in time, and was killed.
            Refused: it ended with a failure; the text is its last words.
        """
        found = shutil.which(name, path=self._path)
        if found is None:
            raise NotSupported(f"{name} is not installed")
        try:
            ended = subprocess.run(  # noqa: S603 - names and arguments are ours, no shell
                [found, *arguments],
                input=say.encode(),
                capture_output=True,
                env={**os.environ, **(env or {})},
                timeout=limit_s,
                check=False,
            )
        except subprocess.TimeoutExpired as late:
            raise Busy(f"{name} did not answer within {limit_s:g} s") from late
        except OSError as failure:
            raise NotSupported(f"{name}: {failure}") from failure
        said = ended.stdout.decode("utf-8", "replace")
        if ended.returncode != 0:
            words = ended.stderr.decode("utf-8", "replace").strip() or said.strip()
            raise Refused(f"{name}: {words[-SAID:] or f'exit code {ended.returncode}'}")
        return said
