"""Beside quota rows: what is planned for them, what drifted, what was used, what is cut back."""
