"""Pages of the quota tree: edited together, planned ahead, repaired, cut back."""
