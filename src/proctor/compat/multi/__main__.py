"""`python -m proctor.compat.multi eval …` and `… metrics …`."""

import sys
from collections.abc import Sequence

from proctor.compat.multi import metrics, running
from proctor.core.errors import ProctorError
from proctor.i18n import language, speak

_USAGE = "usage: python -m proctor.compat.multi {eval,metrics} [--help] …"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one of the two scripts; 0 is fine, 2 bad input, 3 incomplete, 130 stopped."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    match given[:1]:
        case ["eval"]:
            parser, run = running.parser(), running.run
        case ["metrics"]:
            parser, run = metrics.parser(), metrics.run
        case _:
            print(_USAGE, file=sys.stderr)
            return 2
    args = parser.parse_args(given[1:])
    if args.model_list:
        print(running.SUPPORTED)
        return 0
    try:
        text, code = run(args)
    except ProctorError as error:
        print(speak(error.sentence, language()), file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    print(text)
    return code


if __name__ == "__main__":
    sys.exit(main())
