"""Alert rules, silences, and the ways by which alerts leave the house."""
