"""(sample, trajectory) to a score, without a network; one file per kind of answer."""
