"""What a request would do to the queue."""
