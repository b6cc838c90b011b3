"""Tests of arrays, of what work waits for, and of schedules."""
