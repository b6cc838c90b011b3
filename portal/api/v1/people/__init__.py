"""People over REST: invited, in service, brought by a directory."""
