"""Pure rules of the quota tree: what is odd about it, and what an unused lease keeps."""
