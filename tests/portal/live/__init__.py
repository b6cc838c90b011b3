"""Tests of portal/live."""
