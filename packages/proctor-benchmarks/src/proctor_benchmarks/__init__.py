"""Published tasks, one folder each, independent of each other."""
