"""The samples of a run: finding them, and the whole story of one."""
