"""The memory of one process between its rounds; empty in another process and after a restart."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.db import connection

from pool.cycle.carried.rows import Made, Rows
from pool.scheduling.board import Board
from pool.scheduling.model import CardState, NodeState, Running, SliceState, Snapshot
from pool.scheduling.outlook.carried import Carried, carry

MOST_LOOKS = 500
"""After so many looks all is read again, whatever the versions say."""

_SERVER = """
SELECT current_database() || ' ' || pg_postmaster_start_time() || ' ' || system_identifier
FROM pg_control_system()
"""


@dataclass(slots=True)
class Memory:
    """Rows by their versions, what was made of them, and the board of the round before.

    A version is the transaction that wrote a row and the place where it lies: each change of a
    row gives it another. It counts within one run of one database server; with any other all is
    read again. Only who holds the lock of the rounds may use it.
    """

    server: str = ""
    looks: int = 0
    cards: Rows[tuple[Any, ...]] = field(default_factory=Rows)
    nodes: Rows[Any] = field(default_factory=Rows)
    placements: Rows[Any] = field(default_factory=Rows)
    card_states: Made[CardState] = field(default_factory=Made)
    node_states: Made[NodeState] = field(default_factory=Made)
    slices: Made[SliceState] = field(default_factory=Made)
    running: Made[Running] = field(default_factory=Made)
    carried: Carried | None = None
    peers: Mapping[str, int] = field(default_factory=dict)
    regroupings: int = 0

    def begin(self) -> None:
        """A look begins; everything is forgotten where the versions would mean something else."""
        with connection.cursor() as cursor:
            cursor.execute(_SERVER)
            server = str(cursor.fetchone()[0])
        if server != self.server or self.looks >= MOST_LOOKS:
            self.forget()
            self.server = server
        self.looks += 1

    def peers_are(self, by_uuid: Mapping[str, int]) -> int:
        """A number that is another one once any card has come, gone, or got another name."""
        if by_uuid != self.peers:
            self.peers = by_uuid
            self.regroupings += 1
        return self.regroupings

    def over(self) -> None:
        """The look is over: what it did not meet is forgotten."""
        for made in (self.card_states, self.node_states, self.slices, self.running):
            made.turn()

    def forget(self) -> None:
        """Begin with nothing."""
        fresh = Memory()
        for name in Memory.__slots__:
            setattr(self, name, getattr(fresh, name))

    def board(self, snapshot: Snapshot) -> Board:
        """A board of the snapshot that the caller may plan on."""
        self.carried = carry(self.carried, snapshot)
        return self.carried.board.copy()
