"""Tests of the queue's own services."""
