"""Measured values on their way to what is kept."""
