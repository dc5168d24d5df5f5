"""Compile a pattern when it is first used: some modules hold dozens, of which a run needs few, and each takes a millisecond."""

import re
from collections.abc import Callable
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
    """A pattern that is compiled at the first call; from then on its methods are those of the compiled pattern."""

    def __init__(self, text: str, flags: int | re.RegexFlag) -> None:
        self.pattern = text
        self._flags = flags

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        """Return the compiled pattern."""
        return re.compile(self.pattern, self._flags)

    @cached_property
    def search(self) -> Callable[..., Any]:
        """Search as `re.Pattern.search` does; the following methods mirror theirs, too."""
        return self.compiled.search

    @cached_property
    def match(self) -> Callable[..., Any]:
        return self.compiled.match

    @cached_property
    def fullmatch(self) -> Callable[..., Any]:
        return self.compiled.fullmatch

    @cached_property
    def finditer(self) -> Callable[..., Any]:
        return self.compiled.finditer

    @cached_property
    def findall(self) -> Callable[..., Any]:
        return self.compiled.findall

    @cached_property
    def split(self) -> Callable[..., Any]:
        return self.compiled.split

    @cached_property
    def sub(self) -> Callable[..., Any]:
        return self.compiled.sub

    @cached_property
    def subn(self) -> Callable[..., Any]:
        return self.compiled.subn
