"""Alert rules, silences, and the ways by which alerts leave, for scripts."""
