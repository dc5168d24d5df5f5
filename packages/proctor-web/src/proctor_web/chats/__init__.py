"""Chats with agents, and the paths of the development server of ADK."""
