"""Scorers that ask a model, one file each: `rubric:NAME`, `pairwise`, `jury:NAME`."""
