"""Tests of capacity planning at a browser and over REST."""
