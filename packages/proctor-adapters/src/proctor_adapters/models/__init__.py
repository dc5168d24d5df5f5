"""Chat models that are reached through packages of others."""
