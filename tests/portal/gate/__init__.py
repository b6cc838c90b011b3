"""Tests of portal/gate."""
