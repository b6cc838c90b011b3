"""Gangs: one attempt on several nodes; what its ranks report, and its one end."""
