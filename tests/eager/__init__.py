"""Tests of the eager machine."""
