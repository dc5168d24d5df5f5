"""The checks of a task: one file each, or one for those that differ only in what they send or compare."""
