"""Tests of the figures over weeks."""
