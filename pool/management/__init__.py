"""Management commands of the pool."""
