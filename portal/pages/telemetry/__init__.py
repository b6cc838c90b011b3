"""Pages about what was measured."""
