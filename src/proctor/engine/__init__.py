"""Run trials: what is left to do, one attempt, the turns of it, and new scores on old trajectories."""
