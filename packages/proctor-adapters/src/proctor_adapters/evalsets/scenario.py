"""Import the simulated user of cases with a conversation scenario from `users/adk.py`, for code that finds it here."""

from proctor.users.adk import MAX_TURNS, PERSONAS, STOP, ScenarioUser, user_of

__all__ = ["MAX_TURNS", "PERSONAS", "STOP", "ScenarioUser", "user_of"]
