"""`python -m proctor_compat.multi COMMAND …`: the scripts of the original."""

import sys
from collections.abc import Sequence

from proctor_compat.scripts import run_script

MODULES = {
    "eval": "running",
    "metrics": "metrics",
    "serve": "serving",
    "caption": "captioner",
    "extract": "extractor",
    "merge": "merging",
    "hard": "hard",
    "convert": "converting",
    "test": "tester",
}


def main(arguments: Sequence[str] | None = None) -> int:
    return run_script("proctor_compat.multi", MODULES, arguments)


if __name__ == "__main__":
    sys.exit(main())
