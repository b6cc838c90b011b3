"""Alerts in the cycle: rules are looked at, words handed to their routes."""
