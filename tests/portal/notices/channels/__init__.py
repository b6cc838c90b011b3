"""Tests of alerting."""
