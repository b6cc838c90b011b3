"""Pages round requests."""
