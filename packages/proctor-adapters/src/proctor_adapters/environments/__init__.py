"""Environments outside Python: MCP servers, programs, and a browser."""
