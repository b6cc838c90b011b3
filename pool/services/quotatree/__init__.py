"""The quota tree: changed together, planned ahead, counted, repaired, cut back."""
