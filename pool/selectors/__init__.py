"""What can be read of the pool."""
