"""The ring round what-ifs."""
