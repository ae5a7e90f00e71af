"""Sharded gradients."""
