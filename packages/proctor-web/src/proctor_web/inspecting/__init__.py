"""Pages about what the inspector finds inside the trials of a run."""
