"""The checks of a task, one file each; the file's name is the name of the check."""
