"""Pages about what the inspector finds inside the trials of a run, and audits in its task."""
