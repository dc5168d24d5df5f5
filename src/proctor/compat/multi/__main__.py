"""`python -m proctor.compat.multi COMMAND …`: the scripts of the original, each a module with `parser` and `run`."""

import sys
from collections.abc import Sequence
from importlib import import_module

from proctor.core.errors import ProctorError
from proctor.i18n import language, speak
from proctor.reports.visible import visible

MODULES = {
    "eval": "running",
    "metrics": "metrics",
    "serve": "service",
    "caption": "captioner",
    "extract": "extractor",
    "merge": "merging",
    "hard": "hard",
    "convert": "converting",
    "test": "tester",
}
_USAGE = f"usage: python -m proctor.compat.multi {{{','.join(MODULES)}}} [--help] …"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one of the scripts; 0 is fine, 2 bad input, 3 incomplete, 130 stopped."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if not given or given[0] not in MODULES:
        print(_USAGE, file=sys.stderr)
        return 2
    module = import_module(f"proctor.compat.multi.{MODULES[given[0]]}")
    args = module.parser().parse_args(given[1:])
    if getattr(args, "model_list", False):
        from proctor.compat.multi.running import SUPPORTED

        print(SUPPORTED)
        return 0
    try:
        text, code = module.run(args)
    except ProctorError as error:
        print(visible(speak(error.sentence, language())), file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    if text:
        print(visible(text))
    return int(code)


if __name__ == "__main__":
    sys.exit(main())
