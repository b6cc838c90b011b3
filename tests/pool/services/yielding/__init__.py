"""Tests of orders to give way, in the books."""
