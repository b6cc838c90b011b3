"""How running work is told to leave, and how it answers: the node's side of docs/give-way.md."""
