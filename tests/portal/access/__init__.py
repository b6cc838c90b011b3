"""Tests of portal/access."""
