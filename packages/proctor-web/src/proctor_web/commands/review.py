"""proctor judge review: people look at the items of a data file, score them and say what becomes of them."""

from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from proctor.cli import options, output
from proctor.cli.derived import gathered
from proctor.cli.words import is_chosen, lang, t
from proctor.core.errors import BadInput, needs
from proctor_web.commands import serving

if TYPE_CHECKING:
    from proctor_judging.review.queue import Review


class ReviewFlags(msgspec.Struct, frozen=True, kw_only=True):
    """Who reviews what, and by which dimensions."""

    names: tuple[str, ...]
    each: int | None
    adjudicator: str | None
    draw: int | None
    seed: int
    rubric: str | None
    distance: float
    changed: bool

    def open(self, file: Path) -> "Review":
        from proctor_judging.review.dimensions import DEFAULT, of_rubric
        from proctor_judging.review.queue import Review, Reviewers

        return Review(
            file,
            Reviewers(names=self.names, each=self.each, seed=self.seed, adjudicator=self.adjudicator, draw=self.draw),
            dimensions=DEFAULT if self.rubric is None else of_rubric(self.rubric),
            distance=self.distance,
            changed=self.changed,
        )


@click.command()
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
@click.option(
    "--draw",
    metavar="N",
    type=click.IntRange(min=1),
    help=t("Review only N items, drawn at random: when all of them are labelled, they correct figures of a judge."),
)
@click.option(
    "--seed",
    type=int,
    default=0,
    help=t("The seed of the draw and of the assignment of items to reviewers (default 0)."),
)
@click.option("--rubric", metavar="NAME|FILE", help=t("Score the dimensions of this rubric instead of the usual four."))
@click.option(
    "--distance",
    type=click.FloatRange(min=0),
    default=1.0,
    help=t("Two scores that lie further apart are a conflict (default 1)."),
)
@click.option("--changed", is_flag=True, help=t("Go on with the labels although every item they are of was changed."))
@serving.options
@click.option("--terminal", is_flag=True, help=t("Review in this terminal, without a browser."))
@click.option(
    "--statistics", is_flag=True, help=t("Only show how far the review is, how reviewers agree, and conflicts.")
)
@options.as_json
@gathered("flags", ReviewFlags)
def command(
    file: Path, flags: ReviewFlags, server: serving.ServerFlags, terminal: bool, statistics: bool, as_json: bool
) -> None:
    review = flags.open(file)
    if statistics:
        _show_statistics(review, as_json=as_json)
        return
    review.check_writable()
    for note in review.notes:
        output.tell(note)
    if terminal:
        from proctor_web.commands._review_terminal import walk

        if len(review.reviewers) > 1:
            raise BadInput("In the terminal one person reviews at a time: name yourself with --reviewer.")
        walk(review, review.reviewers[0])
    else:
        _serve(review, server, as_json=as_json)
    progress = review.progress()
    output.message(
        t("{done} of {total} items are reviewed: {file}", done=progress.done, total=progress.total, file=review.file)
    )


def _serve(review: "Review", server: serving.ServerFlags, *, as_json: bool) -> None:
    with needs("web", "proctor judge review"):
        from proctor_web.app import app
        from proctor_web.reviewing.item_pages import ReviewPages
        from proctor_web.users.ledger import Person

    adjudicator = review.adjudicator
    people = [Person(name=name, decides=name == adjudicator) for name in review.reviewers]
    if adjudicator is not None and adjudicator not in review.reviewers:
        people.append(Person(name=adjudicator, reviews=False, decides=True))
    door = serving.Door(server, people)
    serving.run_server(
        app(ReviewPages(review, door.access).routes(), door.access, lang(), follows_browser=not is_chosen()),
        door,
        as_json=as_json,
        about={"data": str(review.data), "file": str(review.file)},
        said=t("Each link works once; press Enter here for new ones. Ctrl-C ends the review; every label is saved."),
    )


def _show_statistics(review: "Review", *, as_json: bool) -> None:
    progress = review.progress()
    conflicts = review.conflicts()
    statistics: dict[str, object] = {
        "file": str(review.file),
        "verdicts": progress,
        "reviewers": {name: review.progress(name) for name in review.people()},
        "agreement": review.agreement(),
        "conflicts": [{"item": conflict.item.id, "on": conflict.on} for conflict in conflicts],
    }
    if as_json:
        output.print_json(statistics)
        return
    from proctor_web.commands._review_terminal import show_statistics

    show_statistics(review, conflicts)
