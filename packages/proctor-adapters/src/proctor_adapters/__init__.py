"""What ties Proctor to other systems: agents of frameworks, eval sets of ADK, logs of other programs, PostgreSQL."""
