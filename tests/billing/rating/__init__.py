"""Tests of the pure arithmetic of money and time."""
