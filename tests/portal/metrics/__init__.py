"""Tests of the numbers for Prometheus."""
