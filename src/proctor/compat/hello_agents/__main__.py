"""`python -m proctor.compat.hello_agents COMMAND …`: the companion scripts, each a module with `parser` and `run`."""

import sys
from collections.abc import Sequence
from importlib import import_module

from proctor.core.errors import ProctorError
from proctor.i18n import language, speak
from proctor.reports.visible import visible

MODULE_BY_COMMAND = {"bfcl": "bfcl_script", "run_complete_evaluation": "complete_script"}
_USAGE = f"usage: python -m proctor.compat.hello_agents {{{','.join(MODULE_BY_COMMAND)}}} [--help] …"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one of the scripts; 0 is fine, 2 bad input, 130 stopped."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if not given or given[0] not in MODULE_BY_COMMAND:
        print(_USAGE, file=sys.stderr)
        return 2
    module = import_module(f"proctor.compat.hello_agents.{MODULE_BY_COMMAND[given[0]]}")
    args = module.parser().parse_args(given[1:])
    try:
        return int(module.run(args))
    except ProctorError as error:
        print(visible(speak(error.sentence, language())), file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
