"""The house's own rules, checked like any other behaviour."""
