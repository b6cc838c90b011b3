"""Tests of what can be read of the pool."""
