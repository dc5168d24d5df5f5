"""Read JSON and Python values out of what a model wrote, without guessing and without running it."""
