"""One life of the stack: lay out, bring up in order, watch, take down in order."""

import json
import os
import shutil
import sys
import webbrowser
from pathlib import Path

from rich.console import Console

from portal.up.board import Board
from portal.up.cards import real_cards
from portal.up.child import Child
from portal.up.folders import DataFolder, work_folder, write_private
from portal.up.options import Options
from portal.up.part import Phase
from portal.up.refusal import Refused
from portal.up.stack import Stack
from portal.up.supervisor import Stopped, Supervisor

MANAGE = "manage.py"
DOORS, BACKGROUND = ("web", "gateway"), ("beat", "rounds", "worker", "studies")
# Doors first, so that nothing new comes in; then what works; then what everything stands on.
ORDER = (
    lambda child: child.name.startswith(DOORS),
    lambda child: child.name.startswith("agent"),
    lambda child: child.name == "beat",
    lambda child: child.name in BACKGROUND,
    lambda child: child.name == "valkey",
    lambda child: child.name == "postgres",
)


def up(options: Options, console: Console) -> int:
    """Run until asked to stop. Returns the exit status: 0 after an orderly end.

    Raises:
        Refused: it cannot start here; nothing is left running.
    """
    options.check()
    os.umask(0o077)
    folder = DataFolder(options.data_dir)
    folder.create()
    if options.agents:
        work_folder(options.work)
    handle = folder.lock()
    try:
        stack = Stack.laid_out(options, folder)
        return _live(stack, console)
    finally:
        os.close(handle)


def _live(stack: Stack, console: Console) -> int:
    board = Board(console)
    keeper = Supervisor(board=board, logs=stack.folder.log, environment=stack.environment)
    try:
        _bring_up(stack, keeper)
        board.settle()
        _welcome(stack, console)
        while True:
            keeper.turn()
    except Stopped:
        return 0
    finally:
        for taken in stack.listening.values():
            taken.close()
        keeper.stop(ORDER)
        shutil.rmtree(stack.sockets, ignore_errors=True)
        console.print("Stopped.", highlight=False)


def _bring_up(stack: Stack, keeper: Supervisor) -> None:
    keeper.board.plan(stack.planned())
    for engine in (stack.postgres, stack.valkey):
        if engine is not None:
            engine.create()
    _healthy(keeper, keeper.begin(stack.engines()), "The engines")
    if stack.postgres:
        stack.postgres.create_database()
    steps = ("migrate", "static")
    keeper.run([stack.step(name, "-m", "portal.up.prepare", name) for name in steps])
    _fill(stack, keeper)
    doors = keeper.begin(stack.doors())
    background = keeper.begin(stack.background())
    _healthy(keeper, doors, "The portal")
    agents = keeper.begin(stack.agents()) if stack.options.agents else []
    _healthy(keeper, [*background, *agents], "The stack")
    keeper.wait_for(lambda: stack.health.whole, seconds=120, what="/healthz")


def _healthy(keeper: Supervisor, children: list[Child], what: str) -> None:
    keeper.wait_for(
        lambda: all(child.phase == Phase.HEALTHY for child in children), seconds=180, what=what
    )


def _fill(stack: Stack, keeper: Supervisor) -> None:
    """Fill a new installation; run at every start, for it changes nothing the second time.

    How it was filled and with which fleet is remembered once it went well.
    """
    options, kept = stack.options, stack.folder.run / "first_run.json"
    mode = options.first_run or ("example" if stack.postgres else "empty")
    if kept.exists():
        mode = str(json.loads(kept.read_text(encoding="utf-8"))["mode"])
        if options.first_run not in {None, mode}:
            keeper.board.say(f"This installation was filled before ({mode}); it stays as it is.")
    words = ["first_run", "--mode", mode, "--data-dir", str(stack.folder.root)]
    if real_cards() and not options.fleet:
        words += ["--real-node", os.uname().nodename]
    elif options.fleet or stack.folder.fleet.exists():
        words += ["--fleet", str(options.fleet or stack.folder.fleet)]
    if not options.agents:
        words += ["--no-agent"]
    keeper.run([stack.step("first run", str(_root() / MANAGE), *words)])
    write_private(kept, {"mode": mode})
    if options.fleet and options.fleet != stack.folder.fleet:
        shutil.copyfile(options.fleet, stack.folder.fleet)


def _root() -> Path:
    return Path(__file__).resolve().parents[2]


def _welcome(stack: Stack, console: Console) -> None:
    """Where it is and who may log in."""

    def line(text: str) -> None:
        console.print(text, highlight=False, markup=False, soft_wrap=True)

    line(f"\nReady: {stack.options.url}")
    if stack.options.open_to_others:
        line("Served to other machines too, as plain http: use this only inside a trusted network.")
    for row in _credentials(stack.folder.credentials):
        where = " / ".join(filter(None, (row.get("organization"), row.get("project"))))
        line(f"  {row['username']:<18} {row['password']:<26} {row['role']:<15} {where}".rstrip())
    if stack.folder.credentials.exists():
        line(f"Passwords and API tokens are kept in {stack.folder.credentials}")
    if os.geteuid() != 0 and stack.options.agents:
        line("Not root: local jobs run under your own account, without isolation from each other.")
    line("Ctrl-C stops everything; the data stay.")
    if stack.options.open_browser:
        webbrowser.open(stack.options.url)
    sys.stdout.flush()


def _credentials(file: Path) -> list[dict[str, str]]:
    if not file.exists():
        return []
    try:
        return list(json.loads(file.read_text(encoding="utf-8")))
    except ValueError:
        raise Refused(
            f"{file} is damaged; remove it to go on without the printed passwords."
        ) from None
