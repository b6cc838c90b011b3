"""Recorded work through the live plan: simulate and what-if. Pure."""
