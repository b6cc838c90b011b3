"""Alert rules, silences, routes and ways out: who changes them, and what leaves when."""
