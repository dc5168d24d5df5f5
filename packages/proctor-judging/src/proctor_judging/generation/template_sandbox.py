"""Templates of other people: nothing of Python's can be called, and no expression makes a text of gigabytes."""

from typing import Any

from jinja2.runtime import Context
from jinja2.sandbox import SandboxedEnvironment

MOST = 1_000_000  # characters or items that a repetition makes, and bits of a power

PADDING = frozenset({"center", "expandtabs", "format", "format_map", "ljust", "rjust", "zfill"})  # methods of texts


class BoundedEnvironment(SandboxedEnvironment):
    """Refuses repetitions, powers and paddings that make more than `MOST` of anything."""

    intercepted_binops = frozenset({"*", "**", "%"})

    def __init__(self, **options: object) -> None:
        super().__init__(**options)
        for name in ("center", "indent"):
            self.filters[name] = _bounded(self.filters[name])
        self.globals.pop("lipsum")

    def is_safe_attribute(self, obj: object, attr: str, value: object) -> bool:
        return attr not in PADDING and super().is_safe_attribute(obj, attr, value)

    def wrap_str_format(self, value: object) -> None:
        """Wrap nothing, as `format` would be allowed then, whose widths have no bound."""

    def call_binop(self, context: Context, operator: str, left: object, right: object) -> object:
        if operator == "%" and isinstance(left, str):
            raise ValueError("a text with % is not filled in here")
        if operator == "**" and isinstance(left, int) and isinstance(right, int):
            _check(left.bit_length() * abs(right))
        if operator == "*":
            for value, times in ((left, right), (right, left)):
                if isinstance(value, str | bytes | list | tuple) and isinstance(times, int):
                    _check(len(value) * times)
        return super().call_binop(context, operator, left, right)


def _bounded(filter: Any) -> Any:
    def bounded(text: object, width: object = 4, *more: object, **named: object) -> Any:
        _check(width if isinstance(width, int) else len(str(width)))
        return filter(text, width, *more, **named)

    return bounded


def _check(size: int) -> None:
    if size > MOST:
        raise ValueError(f"an expression would make more than {MOST:,} characters")
