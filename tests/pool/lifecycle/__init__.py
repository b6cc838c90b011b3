"""Tests of pool.lifecycle."""
