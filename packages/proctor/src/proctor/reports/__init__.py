"""Runs as pages for people."""
