"""Run the scripts of an original by name: modules with `add_flags(parser)` and `run(args) -> (text, exit code)`."""

import argparse
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module

from proctor.core.errors import ProctorError
from proctor.i18n import language, speak
from proctor.runtime.visible import visible


def run_script(package: str, modules: Mapping[str, str], arguments: Sequence[str] | None = None) -> int:
    """Run `python -m PACKAGE COMMAND …`; 0 is fine, 2 bad input, 3 incomplete, 130 stopped.

    Args:
        modules: the module of each command, within the package.
        arguments: those of the process when None.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    if not given or given[0] not in modules:
        print(f"usage: python -m {package} {{{','.join(modules)}}} [--help] …", file=sys.stderr)
        return 2
    module = import_module(f"{package}.{modules[given[0]]}")
    flags = argparse.ArgumentParser(prog=f"python -m {package} {given[0]}", description=module.__doc__)
    module.add_flags(flags)
    args = flags.parse_args(given[1:])
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
