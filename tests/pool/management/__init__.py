"""Tests of the commands of the pool."""
