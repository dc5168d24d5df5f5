"""Workers of a run on the machines of a Ray cluster: `--on ray[:ADDRESS]`."""
