"""Tests of pool.scheduling.checker."""
