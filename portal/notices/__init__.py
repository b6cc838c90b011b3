"""Words sent out."""
