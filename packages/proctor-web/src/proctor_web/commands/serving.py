"""Serve pages until Ctrl-C: the port, the links that let people in, and the browser that opens."""

import os
import sys
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import click
import msgspec

from proctor.cli import output
from proctor.cli.derived import gathered, together
from proctor.cli.words import t
from proctor.core.errors import BadInput

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from proctor_web.auth import Access
    from proctor_web.users.ledger import Person


class ServerFlags(msgspec.Struct, frozen=True, kw_only=True):
    """Where the pages are served, and whether a browser opens."""

    port: int | None
    host: str
    opens: bool | None


options = together(
    click.option(
        "--port", type=click.IntRange(1, 65535), help=t("The port of the page, or the next free one (default 7860).")
    ),
    click.option(
        "--host",
        metavar="ADDRESS",
        default="127.0.0.1",
        help=t(
            "The address to listen on (default 127.0.0.1, this machine only); 0.0.0.0 is every network of this machine. Whoever comes in needs a link or a login."
        ),
    ),
    click.option(
        "--open/--no-open",
        "opens",
        default=None,
        help=t("Open the browser, or not (default: where there is a desktop)."),
    ),
    gathered("server", ServerFlags),
)


class Door:
    """A socket that listens, and the people who may come in."""

    def __init__(
        self,
        flags: ServerFlags,
        people: "Sequence[Person]",
        make_access: "Callable[[int, Iterable[str]], Access] | None" = None,
    ) -> None:
        """Listen, on the port or the next free one.

        Args:
            make_access: makes what lets people in, for a port and the names that the machine has on the network.
        """
        from proctor_web.auth import Access
        from proctor_web.serving import PORT, is_loopback, listen, names, url_host

        self.people = people
        self.opens = flags.opens
        self.socket = listen(flags.port or PORT, flags.host)
        taken: int = self.socket.getsockname()[1]
        known_as = names(self.socket, flags.host)
        self.address = f"http://{url_host(known_as[0])}:{taken}"
        self.access = (make_access or Access)(taken, known_as)
        self.is_open = not is_loopback(self.socket)
        if flags.port is not None and taken != flags.port:
            output.message(t("Port {port} is taken; the page is on {taken}.", port=flags.port, taken=taken))
        if self.is_open:
            output.message(
                t(
                    "The page is open to the network at {address}, without encryption. Nobody comes in without a link or a login, but whoever can listen on this network can read along; where you do not trust it, put a proxy with TLS or a tunnel in front.",
                    address=self.address,
                )
            )

    def links(self) -> "Sequence[tuple[Person, str]]":
        """Return a new link for each person."""
        return [(person, (self.access.url or self.address) + self.access.link(person)) for person in self.people]


def run_server(app: "ASGIApp", door: Door, *, as_json: bool, about: Mapping[str, object], said: str) -> None:
    """Show the links, open the browser, and serve until Ctrl-C or SIGTERM.

    Args:
        about: what --json says next to the address and the people.
        said: what the terminal says below the links.
    """
    from proctor_web.serving import serve

    links = door.links()
    if as_json:
        people = [{"name": person.name, "link": link, "token": door.access.token(person)} for person, link in links]
        output.print_json({"address": door.address, **about, "people": people})
        sys.stdout.flush()
    else:
        _show(links)
        output.message(said)
    _show_again_on_enter(door)
    if (_has_desktop() and not as_json and not door.is_open) if door.opens is None else door.opens:
        import webbrowser

        webbrowser.open(links[0][1] if links else door.access.url)
    serve(app, door.socket)


def _show(links: "Sequence[tuple[Person, str]]") -> None:
    for person, link in links:
        output.line(f"{person.name}: {link}" if person.name else link)
    sys.stdout.flush()  # a pipe or a file holds what is printed until then, and the server runs on


def _show_again_on_enter(door: Door) -> None:
    """Show new links when the user presses Enter; a thread, as reading a line blocks."""
    if not sys.stdin.isatty():
        return

    def watch() -> None:
        for _ in sys.stdin:
            try:
                _show(door.links())
            except BadInput as error:  # the database of the users is away
                output.message(t(error.sentence))

    threading.Thread(target=watch, name="proctor-enter", daemon=True).start()


def _has_desktop() -> bool:
    if "SSH_CONNECTION" in os.environ:
        return False
    return sys.platform in ("darwin", "win32") or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
