"""`python -m proctor_compat.hello_agents COMMAND …`: the companion scripts of the chapter."""

import sys
from collections.abc import Sequence

from proctor_compat.scripts import run_script

MODULE_BY_COMMAND = {"bfcl": "bfcl_script", "run_complete_evaluation": "complete_script"}


def main(arguments: Sequence[str] | None = None) -> int:
    return run_script("proctor_compat.hello_agents", MODULE_BY_COMMAND, arguments)


if __name__ == "__main__":
    sys.exit(main())
