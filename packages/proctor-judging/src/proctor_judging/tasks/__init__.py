"""Tasks of texts that exist, for judges: items and pairs from data files, and the probes for bias."""
