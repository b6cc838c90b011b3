"""The configuration as files: written, tried and loaded at a page."""
