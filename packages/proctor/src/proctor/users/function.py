"""`./user.py:reply`: the user's own function or object as a simulated user.

A function gets the agent's last words ('' at first), or with two parameters the sample and the trajectory so far. It returns what
the simulated user says next, None when the conversation is over; it may be async. An object with such a method
`reply(sample, trajectory)`, which returns turns, is used unchanged.
"""

import inspect
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, TypeGuard

from proctor.config import converted, unknown_option
from proctor.core.declared import UserInfo, checked
from proctor.core.errors import BadInput, UserFailed
from proctor.core.parts import UserPart
from proctor.core.sample import Message, Sample, Turn
from proctor.core.task import TakesSample, User
from proctor.core.trajectory import Trajectory
from proctor.registry import load_object
from proctor.runtime.threads import in_thread, is_async
from proctor.users.conduct import UserExchange, check_limit, check_words
from proctor.users.scripted import ScriptedUserOptions


def make(argument: str, options: Mapping[str, object]) -> User:
    """`function:./file.py:object` or `function:package.module:object`; the same as the path alone."""
    return wrap(load_object(argument, "user"), name=f"function:{argument}", options=options)


def wrap(target: object, *, name: str, options: Mapping[str, object] = {}) -> User:
    """Return a user made of the user's object.

    Raises:
        BadInput: it cannot be called in one of the ways above.
    """
    if _is_user(target):
        for option in options:
            raise unknown_option(name, option, [])
        checked(UserInfo, target, name)
        return target
    takes = _count_parameters(target)
    if not callable(target) or takes not in (1, 2):
        raise BadInput(
            "'{name}' is no simulated user: expected a function of the agent's words, or of sample and trajectory, or an object with a method reply(sample, trajectory).",
            name=name,
        )
    return FunctionUser(target, converted(options, ScriptedUserOptions, name), takes_words=takes == 1)


class FunctionUser:
    """Says what a function returns."""

    def __init__(self, function: Callable[..., Any], options: ScriptedUserOptions, *, takes_words: bool) -> None:
        self._function = function
        self._options = options
        self._takes_words = takes_words

    async def reply(self, sample: Sample, trajectory: Trajectory) -> Turn | None:
        """Return what the user says next; None when the conversation is over.

        Raises:
            UserFailed: the function returned something else than words, or came to no end.
        """
        said = UserExchange(sample, trajectory)
        given = (said.answer,) if self._takes_words else (sample, trajectory)
        work = partial(self._function, *given)
        text = work() if is_async(self._function) else await in_thread(work)
        if isinstance(text, Awaitable):
            text = await text
        if text is None:
            return None
        if not isinstance(text, str):
            raise UserFailed(
                "The simulated user returned {type} instead of words.", kind="type", type=type(text).__name__
            )
        check_limit(said, self._options.max_turns, self._options.at_limit)
        check_words(text.strip(), said)
        return Turn(messages=(Message.of("user", text),))


def _is_user(target: object) -> TypeGuard[User]:
    return not isinstance(target, type) and isinstance(target, User | TakesSample)


def _count_parameters(target: object) -> int:
    try:
        parameters = inspect.signature(target).parameters.values() if callable(target) else ()
    except (TypeError, ValueError):  # built-in functions have no signature
        return 0
    return sum(
        parameter.default is parameter.empty
        and parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
        for parameter in parameters
    )


PART = UserPart(make=make)
