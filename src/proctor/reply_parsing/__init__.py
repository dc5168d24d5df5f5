"""Read JSON out of what a model wrote, without guessing."""
