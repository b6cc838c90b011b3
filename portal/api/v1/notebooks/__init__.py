"""Notebooks over REST: asked for, opened, kept, and what they are judged by."""
