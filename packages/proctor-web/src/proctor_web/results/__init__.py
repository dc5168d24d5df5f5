"""One run: its numbers, what was run, and sharing it."""
