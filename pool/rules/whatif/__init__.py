"""PURE: files of recorded work read line by line, scenarios judged, two outcomes compared."""
