"""Tests mirror the four floors."""
