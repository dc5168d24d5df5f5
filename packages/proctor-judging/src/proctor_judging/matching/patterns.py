"""Compile a pattern when it is first used: some modules hold dozens, of which a run needs few, and each takes a millisecond."""

import re
from functools import cached_property
from typing import Any, cast


def compile_later(text: str, flags: int | re.RegexFlag = 0) -> re.Pattern[str]:
    """Return an object that works like the pattern of `re.compile`, wherever its methods are called.

    A pattern that is wrong is only found when it is used, so the tests compile them all.

    >>> compile_later(r"(\\d+)", re.ASCII).sub(r"<\\1>", "a1b22")
    'a<1>b<22>'
    """
    return cast("re.Pattern[str]", LatePattern(text, flags))


class LatePattern:
    """A pattern that is compiled at the first use of an attribute; each attribute is then that of the compiled pattern."""

    def __init__(self, text: str, flags: int | re.RegexFlag) -> None:
        self.pattern = text
        self._flags = flags

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        return re.compile(self.pattern, self._flags)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # of a copy that has no pattern yet
            raise AttributeError(name)
        value = self.__dict__[name] = getattr(self.compiled, name)
        return value
