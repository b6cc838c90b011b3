"""The configuration as files: read with line numbers, compared, loaded all or nothing, written."""
