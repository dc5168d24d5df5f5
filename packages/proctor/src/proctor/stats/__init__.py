"""Compute estimates with their intervals: pure functions over numbers."""
