"""Runs in the browser: the list, starting and stopping, live progress, tags, notes and baselines."""
