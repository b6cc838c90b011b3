"""The quota tree in the cycle: what time does to it, what is not lent, what a try would bring."""
