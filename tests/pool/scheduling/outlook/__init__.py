"""Tests of pool.scheduling.outlook."""
