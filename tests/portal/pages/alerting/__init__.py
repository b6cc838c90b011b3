"""Tests of the pages of alerts."""
