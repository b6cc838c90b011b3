"""Stand-ins for other people's programs and libraries, driven by the project's own facts."""
