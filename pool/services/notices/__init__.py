"""Telling people, and what they want to be told."""
