"""Pure: recorded work through the live plan."""
