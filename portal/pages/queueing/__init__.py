"""The queue's pages: the list, one item, the heads' plan, waits and rounds, trying a policy."""
