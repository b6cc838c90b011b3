"""Errors that cards tell of."""
