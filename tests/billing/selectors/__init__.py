"""Tests of what can be read of money."""
