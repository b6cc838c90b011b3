"""In what work runs: which kinds there is a runner for, and which nodes have it."""
