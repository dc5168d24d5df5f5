"""The browser in which the tests look at pages."""

import shutil

from proctor_adapters.environments.browser import NAMES

CHROMIUM = next(filter(None, map(shutil.which, NAMES)), None)
"""The program; None where there is none."""
