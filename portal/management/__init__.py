"""Management commands of the portal."""
