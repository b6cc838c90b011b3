"""Vendors' cards behind one shape."""
