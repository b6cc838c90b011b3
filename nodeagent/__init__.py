"""The agent of one GPU node; knows nothing of the server but the protocol."""
