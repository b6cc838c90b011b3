"""What is decided ahead of time, for scripts."""
