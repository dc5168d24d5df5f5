"""Runs and cases for other systems, one format each."""
