"""Prometheus: what the portal tells about itself."""
