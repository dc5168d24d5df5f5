"""Scorers with the rules of other systems."""
