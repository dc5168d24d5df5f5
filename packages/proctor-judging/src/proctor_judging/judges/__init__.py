"""Scorers that ask a model, one file each: `rubric:NAME`, `pairwise`, `jury:NAME`; and how far judges agree with people and each other."""
