"""What cards suffer: errors that their nodes tell of, and what each one asks for."""
