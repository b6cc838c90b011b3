"""Tests of what is learned from finished runs."""
