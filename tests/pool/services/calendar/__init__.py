"""Tests of maintenance, reservations, licence seats and policies."""
