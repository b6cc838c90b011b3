"""Pages of alerts: the board, rules with their back-test, silences, ways out of the house."""
