"""NVIDIA cards through the management library; reads only."""
