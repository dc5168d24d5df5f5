"""Tasks of Inspect and lm-eval, run by Proctor: their code in a worker process, their model calls through ours."""
