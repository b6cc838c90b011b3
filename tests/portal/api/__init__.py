"""Tests of portal/api."""
