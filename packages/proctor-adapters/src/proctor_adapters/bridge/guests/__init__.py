"""The programs of worker processes in which tasks of other programs run."""
