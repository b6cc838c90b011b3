"""Which protocol this code speaks."""

PROTOCOL = 1
"""Integer major. A portal speaks this one and the one before."""

SPOKEN = frozenset({1})
"""What a portal of this version accepts from an agent."""

MAX_BODY_BYTES = 4 * 1024 * 1024
"""The largest message either side reads."""
