"""Run trials: choose those that are left, play one attempt with its turns, and rescore stored trajectories."""
