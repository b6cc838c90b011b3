"""Tests of pool.replay."""
