"""Capacity planning: the verdict, the teams, the corners, the trend, and two periods compared."""
