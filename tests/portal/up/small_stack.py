"""A supervisor over parts of a few lines, run as a process of its own by the tests beside it.

Usage: python -m tests.portal.up.small_stack FOLDER NAME=PROGRAM…; each program is Python text. The
parts end in the order in which they are named.
"""

import os
import signal
import sys
from pathlib import Path

from rich.console import Console

from portal.up.board import Board
from portal.up.part import Part
from portal.up.supervisor import Stopped, Supervisor


def main() -> int:
    folder = Path(sys.argv[1])
    keeper = Supervisor(
        board=Board(Console()), logs=folder, environment=dict(os.environ, FOLDER=str(folder))
    )
    named = dict(word.split("=", 1) for word in sys.argv[2:])
    parts = [
        Part(
            name=name,
            command=[sys.executable, "-c", program],
            well=lambda name=name: (folder / f"{name}.well").exists(),
            before=lambda name=name: (folder / f"{name}.well").unlink(missing_ok=True),
            death=signal.SIGTERM,
            grace=60.0,
        )
        for name, program in named.items()
    ]
    try:
        keeper.begin(parts)
        (folder / "up").touch()
        while True:
            keeper.turn()
    except Stopped:
        return 0
    finally:
        keeper.stop([lambda child, name=name: child.name == name for name in named])


if __name__ == "__main__":
    sys.exit(main())
