"""Simulated users by the rules of other systems."""
