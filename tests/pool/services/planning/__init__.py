"""Tests of what capacity planning changes."""
