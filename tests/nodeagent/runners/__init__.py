"""Runners with real processes."""
