"""Reviews by people, opened from runs and comparisons."""
