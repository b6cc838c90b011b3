"""The one order of locks, watched: in which order a transaction takes rows of which table."""

import re
from collections import defaultdict

from django.db import connection
from psycopg.pq import TransactionStatus

ORDER = ("quota", "workload", "attempt", "placement", "card", "slice", "node")
"""As in `pool/services/moves.py`; who holds rows of a later table takes none of an earlier."""

_UPDATE = re.compile(r'^\s*UPDATE\s+"?pool_(\w+?)"?(?:\s|$)')
_LOCKED = re.compile(r'\bFROM\s+"?pool_(\w+?)"?(?:\s|$).*\bFOR\s+(?:NO KEY\s+)?UPDATE\b', re.S)


class LockOrder:
    """Notes the tables that each transaction of a connection locks rows of, and what is wrong.

    A table whose rows are locked already may be written again: its rows are held.
    """

    def __init__(self):
        self.held = []
        self.wrong = []
        self.seen = defaultdict(int)

    def __call__(self, execute, sql, params, many, context):
        if context["connection"].connection.info.transaction_status == TransactionStatus.IDLE:
            self.held = []
        self.note(sql)
        return execute(sql, params, many, context)

    def note(self, sql):
        """Take in one statement."""
        found = _UPDATE.match(sql) or _LOCKED.search(sql)
        table = found.group(1) if found else ""
        if table not in ORDER:
            return
        self.seen[table] += 1
        if table in self.held:
            return
        later = [one for one in self.held if ORDER.index(one) > ORDER.index(table)]
        if later:
            self.wrong.append((*self.held, table))
        self.held.append(table)


def watched(order, act):
    """The act, with its own connection's statements noted."""

    def run():
        with connection.execute_wrapper(order):
            act()

    return run
