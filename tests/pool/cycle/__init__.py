"""Tests of pool.cycle."""
