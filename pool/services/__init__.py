"""What can be done: the only writers of the pool."""
