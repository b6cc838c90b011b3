"""Pure state machines."""
