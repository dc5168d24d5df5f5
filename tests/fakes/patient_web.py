"""How long the pages of the web app wait for what they compute, as a test wants it: `python patient_web.py SECONDS WORDS...`.

With many seconds no page says that it waits, however busy the machine is; with none each does, however small its runs are.
"""

import importlib
import sys

MANY_SECONDS = 30.0
WAITS = (
    "proctor_web.comparing.background.SECONDS",
    "proctor_web.results.report.PATIENT_SECONDS",
    "proctor_web.results.report.WRITTEN_SECONDS",
    "proctor_web.runs.panel.SOON_SECONDS",
)


def have_pages_wait(seconds: float) -> None:
    for name in WAITS:
        module, _, constant = name.rpartition(".")
        setattr(importlib.import_module(module), constant, seconds)


if __name__ == "__main__":
    from proctor.cli import main

    have_pages_wait(float(sys.argv.pop(1)))
    main()
