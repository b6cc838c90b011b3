"""Tests of what can be done to money."""
