"""Tests of the made-up month."""
