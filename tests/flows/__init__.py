"""Flows through every room with real processes."""
