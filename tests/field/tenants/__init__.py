"""Faults of quotas, rights, lists and names."""
