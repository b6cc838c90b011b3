"""Tests of money."""
