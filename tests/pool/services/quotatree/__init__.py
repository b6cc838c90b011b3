"""Tests of the quota tree: many rows at once, plans, drift, months, cutting back."""
