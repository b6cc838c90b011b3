"""Tests of pool.scheduling."""
