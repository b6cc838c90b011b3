"""Tests of what a site installs."""
