"""Tests of srcgrad.inspect."""
