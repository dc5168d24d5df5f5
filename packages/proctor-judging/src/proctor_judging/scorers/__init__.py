"""(sample, trajectory) to a score, by rules alone; one file per kind of answer."""
