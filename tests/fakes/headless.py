"""The browser in which the tests look at pages."""

import shutil

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
CHROMIUM = next(filter(None, map(shutil.which, NAMES)), None)
"""The program; None where there is none. The shell has the engine of Chromium without its windows, for a third of the CPU."""
