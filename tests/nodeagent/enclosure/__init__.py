"""Tests of the walls round jobs."""
