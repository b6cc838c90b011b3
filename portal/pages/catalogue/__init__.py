"""Pages of the catalogues: storage, secrets, environments."""
