"""The fault bench: parts of a real stack are killed while work runs."""
