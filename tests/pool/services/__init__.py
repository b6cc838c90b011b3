"""Tests of what can be done to the pool."""
