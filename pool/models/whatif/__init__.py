"""Tables of what-if: recorded work, and what was asked of it."""
