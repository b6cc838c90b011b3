"""Which protocol this code speaks."""

PROTOCOL = 1
"""Integer major. A portal speaks this one and the one before."""

SPOKEN = frozenset({1})
"""What a portal of this version accepts from an agent."""

MAX_BODY_BYTES = 4 * 1024 * 1024
"""The largest message either side reads."""

NOTEBOOK_WAY = "notebook"
GIVEN_WAY = "given"
"""Words that an agent names among its runners when it knows what a notebook is, and what work is
given of secrets and folders. Such work names them as its runner to an agent that does not: it
refuses what it cannot run, where it would run it without."""
