"""Deliver alerts through apprise: mail, Feishu, DingTalk, WeCom, Slack, webhooks and a hundred more.

Each address is tried by itself until it takes the message, later and later, and in a thread of its own: a channel that fails
never holds up a run, nor another channel. What waits is kept on disk.
"""

import logging
import os
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple

import msgspec

from proctor.core.errors import BadInput, needs
from proctor.core.sentence import Sentence, say
from proctor.i18n import language, speak
from proctor.transport.redact import redact
from proctor_ci.alerts import Notice
from proctor_ci.schedule import Quiet

POLL_SECONDS = 1.0
WAIT_SECONDS, LONGEST_WAIT_SECONDS = 30.0, 3600.0
MOST_LETTERS = 1_000  # that wait; the oldest are dropped, and that is said
MOST_LINES = 50  # of a message

Send = Callable[[str, str, str], str]
"""Send title and body to an address; returns why that failed, '' if it did not."""


class Letter(msgspec.Struct, kw_only=True):
    """A notice on its way to one address, which is named by its environment variable and its position there."""

    channel: str
    notice: Notice
    tries: int = 0
    due: float = 0.0
    why: str = ""


def addresses(variables: Sequence[str]) -> dict[str, str]:
    """Return the addresses that environment variables hold, by a name that is no secret.

    Raises:
        BadInput: apprise does not know one of them; names the variable only.
    """
    if not variables:
        return {}
    with needs("watch", "proctor ci watch"):
        import apprise
    by_name = {}
    for variable in variables:
        for number, address in enumerate(os.environ.get(variable, "").split(), 1):
            name = f"{variable}#{number}"
            with _heard(), warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)  # of what plugins import
                is_known = apprise.Apprise().add(address)
            if not is_known:
                raise BadInput(
                    "{name}: apprise knows no such address. They look like mailto://user:password@host, feishu://token, slack://A/B/C, json://host/path; several stand with spaces between.",
                    name=name,
                )
            by_name[name] = address
    return by_name


def send(address: str, title: str, body: str) -> str:
    """Send a message; returns why that failed, without what is secret in the address."""
    import apprise

    with _heard() as heard:
        try:
            done = apprise.Apprise()
            done.add(address)
            if done.notify(title=title, body=body):
                return ""
        except Exception as error:  # noqa: BLE001 - of one of a hundred plugins; the message is tried again
            heard.append(f"{type(error).__name__}: {error}")
    return redact("; ".join(heard).replace(address, "…"))[:300] or "not delivered"


class LetterBox(NamedTuple):
    """The letters that wait, how they are saved, and the lock that protects them."""

    letters: list[Letter]
    save: Callable[[], None]
    lock: threading.RLock


class Courier:
    """Delivers letters, and keeps those that wait."""

    def __init__(
        self,
        channels: Mapping[str, str],
        box: LetterBox,
        *,
        quiet: Quiet | None,
        now: Callable[[], float],
        tell: Callable[[Sentence], None],
        send: Send = send,
    ) -> None:
        self._channels, self._quiet = channels, quiet
        self._letters, self._save, self._lock = box
        self._now, self._tell, self._send = now, tell, send
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._work, name="proctor-alerts", daemon=True)

    def start(self) -> None:
        """Deliver from now on."""
        self._thread.start()

    def stop(self, seconds: float) -> None:
        """Deliver what is due one last time, then end; the rest is delivered at the next start."""
        self._over.set()
        if self._thread.is_alive():
            self._thread.join(seconds)

    def post(self, notices: Sequence[Notice]) -> None:
        """Take notices for every channel; the caller saves them."""
        with self._lock:
            self._letters += [Letter(channel=name, notice=notice) for notice in notices for name in self._channels]
            if (surplus := len(self._letters) - MOST_LETTERS) > 0:
                del self._letters[:surplus]
                self._tell(
                    say("{count} alerts could not be delivered for so long that they are dropped.", count=surplus)
                )

    def deliver(self) -> None:
        """Send what is due: to each address one message with all that waits for it."""
        if self._quiet is not None and self._quiet.covers(self._now()):
            return
        for name, address in self._channels.items():
            with self._lock:
                letters = [letter for letter in self._letters if letter.channel == name]
            if not letters or self._now() < max(letter.due for letter in letters):
                continue
            why = self._send(address, *_message([letter.notice for letter in letters]))
            with self._lock:
                if not why:
                    self._letters[:] = [
                        letter for letter in self._letters if not any(letter is sent for sent in letters)
                    ]
                for letter in letters if why else ():
                    letter.tries, letter.why = letter.tries + 1, why
                    letter.due = self._now() + min(WAIT_SECONDS * 2 ** (letter.tries - 1), LONGEST_WAIT_SECONDS)
                self._save()
            if why:
                wait = f"{letters[0].due - self._now():.0f}"
                self._tell(
                    say("{name}: not delivered ({why}); again in {seconds} s.", name=name, why=why, seconds=wait)
                )

    def _work(self) -> None:
        while not self._over.wait(POLL_SECONDS):
            self.deliver()
        self.deliver()


def _message(notices: Sequence[Notice]) -> tuple[str, str]:
    lang = language()
    lines = []
    for notice in notices[-MOST_LINES:]:
        text = say("over: {text}", text=notice.text) if notice.is_over else notice.text
        lines.append(f"{notice.watch}: {speak(text, lang)}")
    begun = sum(not notice.is_over for notice in notices)
    title = say("Proctor: {count} alerts", count=begun) if begun else say("Proctor: over")
    if begun == 1:
        title = say(
            "Proctor: an alert of {watch}", watch=next(notice.watch for notice in notices if not notice.is_over)
        )
    return speak(title, lang), "\n".join(lines)


@contextmanager
def _heard() -> Iterator[list[str]]:
    """Collect what apprise logs, in place of printing it: it says there why something failed."""
    lines: list[str] = []

    class Ear(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            lines.append(record.getMessage())

    logger, ear = logging.getLogger("apprise"), Ear(logging.WARNING)
    before = logger.propagate
    logger.addHandler(ear)
    logger.propagate = False
    try:
        yield lines
    finally:
        logger.removeHandler(ear)
        logger.propagate = before
