"""The users of a server: roles, the ledger of their sessions and tokens, and the log of what they changed."""
