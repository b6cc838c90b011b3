"""Replays of what-if: the engine, scenarios, figures."""
