"""What the person at the terminal sees: a live list, or plain lines where there is no terminal."""

import time
from collections.abc import Sequence

from rich.console import Console
from rich.live import Live
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from portal.up.child import Child
from portal.up.part import Phase

MARKS = {
    Phase.WAITING: ("·", "dim"),
    Phase.STARTING: ("…", "yellow"),
    Phase.HEALTHY: ("✓", "green"),
    Phase.DONE: ("✓", "green"),
    Phase.UNWELL: ("?", "yellow"),
    Phase.RESTARTING: ("!", "red"),
    Phase.STOPPED: ("-", "dim"),
}


class Board:
    """Rows in the order in which the parts come up; each change is shown once."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.begun = time.monotonic()
        self._rows: dict[str, tuple[Phase, str]] = {}
        self._since: dict[str, float] = {}
        self._spinner = Spinner("dots")
        self._live: Live | None = None
        if console.is_terminal:
            self._live = Live(console=console, auto_refresh=False, transient=False)
            self._live.start()

    def plan(self, names: Sequence[str]) -> None:
        """The rows to come, so that the whole way is seen from the start."""
        for name in names:
            self._rows.setdefault(name, (Phase.WAITING, ""))

    def step(self, name: str, phase: Phase, note: str = "") -> None:
        """One row changes."""
        if self._rows.get(name) == (phase, note):
            return
        self._rows[name] = (phase, note)
        self._since[name] = time.monotonic()
        if self._live is None and phase != Phase.WAITING:
            self._line(name, phase, note)

    def show(self, children: Sequence[Child]) -> None:
        """Bring the rows up to date and draw."""
        for child in children:
            self.step(child.name, child.phase, child.note)
        if self._live is not None:
            self._live.update(self._table(), refresh=True)

    def say(self, text: str, style: str = "") -> None:
        """A line for the person, above the list while that lives."""
        self.console.print(text, style=style, highlight=False, soft_wrap=True, markup=False)

    def settle(self) -> None:
        """Everything is up: the list stays as it is, and changes come as lines from now on."""
        if self._live is not None:
            self._live.update(self._table(), refresh=True)
            self._live.stop()
            self._live = None

    def stopping(self) -> None:
        """From here only lines."""
        self.settle()
        self.say("Stopping …")

    def _line(self, name: str, phase: Phase, note: str) -> None:
        spent = time.monotonic() - self.begun
        text = f"[{spent:6.1f} s] {name}: {phase}{f' ({note})' if note else ''}"
        self.console.print(text, highlight=False, soft_wrap=True, markup=False)

    def _table(self) -> Table:
        table = Table.grid(padding=(0, 1))
        for name, (phase, note) in self._rows.items():
            mark, style = MARKS[phase]
            sign = self._spinner if phase == Phase.STARTING else Text(mark, style=style)
            table.add_row(sign, Text(name), Text(note or str(phase), style=style))
        return table
