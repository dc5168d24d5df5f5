"""Decide whether a run may ship."""
