"""Eval-set files of ADK: every shape they ever had is read, the current one is written."""
