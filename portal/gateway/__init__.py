"""Notebooks and endpoints, on an origin of their own."""
