"""Browsers' sockets."""
