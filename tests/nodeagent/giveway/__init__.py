"""Tests of the node's side of giving way."""
