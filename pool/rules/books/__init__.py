"""PURE: what must hold of the books at every moment."""
