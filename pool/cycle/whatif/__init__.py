"""Look, replay, keep: the ring round the pure replay of what-ifs."""
