"""The ring round the pure rooms: look, decide, write."""
