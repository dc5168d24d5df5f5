"""Define the nouns: samples, trajectories, scores, trials, runs, tasks. Needs msgspec and the standard library only."""
