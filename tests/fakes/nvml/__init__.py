"""A stateful management library in C, loaded by the real binding in a child process."""
