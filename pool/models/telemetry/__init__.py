"""Measured values, condensed: what is kept when the raw readings are gone."""
