"""Faults of what is counted and billed."""
