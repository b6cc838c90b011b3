"""Threads against the real database."""
