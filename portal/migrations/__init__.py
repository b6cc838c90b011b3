"""Changes of the portal's own tables, in order."""
