"""The simulated user of cases that are no conversation but the scenario of one; see `users/adk.py`, where it is."""

from proctor.users.adk import MAX_TURNS, PERSONAS, STOP, ScenarioUser, user_of

__all__ = ["MAX_TURNS", "PERSONAS", "STOP", "ScenarioUser", "user_of"]
