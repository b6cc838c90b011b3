"""Recorded work of any need through the live round, as it was and with something changed."""
