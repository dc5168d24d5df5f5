"""Runs as files for other programs, one format each."""
