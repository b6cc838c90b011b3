"""Faults that people who share GPUs really hit, each kind once; named by its id."""
