"""Tests of what alert rules, hints and baselines see."""
