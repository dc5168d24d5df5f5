"""proctor review: people look at the items of a data file, score them and say what becomes of them."""

import os
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import click

from proctor.cli import options, output
from proctor.cli.words import is_chosen, lang, t
from proctor.core.errors import BadInput, MissingExtra

if TYPE_CHECKING:
    from proctor.review.queue import Review
    from proctor.web.auth import Access, Person


@click.command(help=t("Review the items of a data file by hand: scores, a status and comments, in the browser."))
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--reviewer",
    "names",
    metavar="NAME",
    multiple=True,
    help=t("Who reviews; may be given several times, and each gets a link. Reviewers do not see what others said."),
)
@click.option(
    "--reviewers",
    "each",
    metavar="N",
    type=click.IntRange(min=1),
    help=t("By how many people each item is reviewed; they are drawn from those named (default: all of them)."),
)
@click.option(
    "--adjudicator", metavar="NAME", help=t("Who sees where reviewers disagree, decides, and gets a link for that.")
)
@click.option("--seed", type=int, default=0, help=t("The seed of the assignment of items to reviewers (default 0)."))
@click.option("--rubric", metavar="NAME|FILE", help=t("Score the dimensions of this rubric instead of the usual four."))
@click.option(
    "--distance",
    type=click.FloatRange(min=0),
    default=1.0,
    help=t("Two scores that lie further apart are a conflict (default 1)."),
)
@click.option("--changed", is_flag=True, help=t("Go on with the labels although every item they are of was changed."))
@click.option(
    "--port", type=click.IntRange(1, 65535), help=t("The port of the page, or the next free one (default 7860).")
)
@click.option(
    "--host",
    metavar="ADDRESS",
    default="127.0.0.1",
    help=t(
        "The address to listen on (default 127.0.0.1, this machine only); 0.0.0.0 is every network of this machine. Whoever comes in needs a link."
    ),
)
@click.option(
    "--open/--no-open", "opens", default=None, help=t("Open the browser, or not (default: where there is a desktop).")
)
@click.option("--terminal", is_flag=True, help=t("Review in this terminal, without a browser."))
@click.option(
    "--statistics", is_flag=True, help=t("Only show how far the review is, how reviewers agree, and conflicts.")
)
@options.as_json
def command(
    file: Path,
    names: tuple[str, ...],
    each: int | None,
    adjudicator: str | None,
    seed: int,
    rubric: str | None,
    distance: float,
    changed: bool,
    port: int | None,
    host: str,
    opens: bool | None,
    terminal: bool,
    statistics: bool,
    as_json: bool,
) -> None:
    from proctor.review.dimensions import DEFAULT, of_rubric
    from proctor.review.queue import Review

    review = Review(
        file,
        reviewers=names,
        each=each,
        seed=seed,
        dimensions=DEFAULT if rubric is None else of_rubric(rubric),
        distance=distance,
        changed=changed,
        adjudicator=adjudicator,
    )
    if statistics:
        _show_statistics(review, as_json=as_json)
        return
    review.check_writable()
    for note in review.notes:
        output.tell(note)
    if terminal:
        from proctor.cli._review_terminal import walk

        if len(review.reviewers) > 1:
            raise BadInput("In the terminal one person reviews at a time: name yourself with --reviewer.")
        walk(review, review.reviewers[0])
    else:
        _serve(review, port, host, opens=opens, as_json=as_json)
    progress = review.progress()
    output.message(
        t("{done} of {total} items are reviewed: {file}", done=progress.done, total=progress.total, file=review.file)
    )


def _serve(review: "Review", port: int | None, host: str, *, opens: bool | None, as_json: bool) -> None:
    try:
        from proctor.web.app import app
        from proctor.web.auth import Access, Person
        from proctor.web.review import Pages
        from proctor.web.serving import PORT, is_loopback, listen, names, serve, url_host
    except ImportError as error:
        raise MissingExtra("web", "proctor review") from error

    adjudicator = review.adjudicator
    people = [Person(name=name, decides=name == adjudicator) for name in review.reviewers]
    if adjudicator is not None and adjudicator not in review.reviewers:
        people.append(Person(name=adjudicator, reviews=False, decides=True))
    on = listen(port or PORT, host)
    taken: int = on.getsockname()[1]
    known_as = names(on, host)
    address = f"http://{url_host(known_as[0])}:{taken}"
    access = Access(taken, known_as)
    if port is not None and taken != port:
        output.message(t("Port {port} is taken; the page is on {taken}.", port=port, taken=taken))
    if not is_loopback(on):
        opens = opens or False
        output.message(
            t(
                "The page is open to the network at {address}, without encryption. Nobody comes in without a link, but whoever can listen on this network can read along; where you do not trust it, put a proxy with TLS or a tunnel in front.",
                address=address,
            )
        )
    links = [(person, address + access.link(person)) for person in people]
    if as_json:
        output.print_json(
            {
                "address": address,
                "data": str(review.data),
                "file": str(review.file),
                "people": [{"name": one.name, "link": link, "token": access.token(one)} for one, link in links],
            }
        )
        sys.stdout.flush()
    else:
        _show_links(links)
        output.message(
            t("Each link works once; press Enter here for new ones. Ctrl-C ends the review; every label is saved.")
        )
    _new_links_on_enter(people, access, address)
    if (_has_desktop() and not as_json) if opens is None else opens:
        import webbrowser

        webbrowser.open(links[0][1])
    serve(app(Pages(review, access).routes(), access, lang(), follows_browser=not is_chosen()), on)


def _show_links(links: "list[tuple[Person, str]]") -> None:
    for person, link in links:
        output.line(f"{person.name}: {link}" if person.name else link)


def _new_links_on_enter(people: "list[Person]", access: "Access", address: str) -> None:
    """Show links again when the user presses Enter; a thread, as reading a line blocks."""
    if not sys.stdin.isatty():
        return

    def watch() -> None:
        for _ in sys.stdin:
            _show_links([(person, address + access.link(person)) for person in people])

    threading.Thread(target=watch, name="proctor-enter", daemon=True).start()


def _has_desktop() -> bool:
    if "SSH_CONNECTION" in os.environ:
        return False
    return sys.platform in ("darwin", "win32") or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def _show_statistics(review: "Review", *, as_json: bool) -> None:
    progress = review.progress()
    conflicts = review.conflicts()
    found: dict[str, object] = {
        "file": str(review.file),
        "verdicts": progress,
        "reviewers": {name: review.progress(name) for name in review.people()},
        "agreement": review.agreement(),
        "conflicts": [{"item": one.item.id, "on": one.on} for one in conflicts],
    }
    if as_json:
        output.print_json(found)
        return
    from proctor.cli._review_terminal import show_statistics

    show_statistics(review, conflicts)
