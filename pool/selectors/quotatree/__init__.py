"""The quota tree as people read it: who has, holds and used what; what is planned; what drifted."""
