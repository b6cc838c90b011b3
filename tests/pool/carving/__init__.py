"""Tests of pool.carving."""
