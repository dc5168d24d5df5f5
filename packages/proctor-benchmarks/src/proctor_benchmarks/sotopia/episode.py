"""Play an episode by the official rules: whose turn it is, what each player is shown, and when it is over.

Source: sotopia 0.1.5 and a0aaafb440e5, `envs/parallel.py`, `server.py` (`arun_one_episode`).
"""

import random
from collections.abc import Sequence
from typing import Annotated, Literal

import msgspec

from proctor_benchmarks.sotopia.actions import ACTION_TYPES, NOTHING, SILENCE, Edition, PlayerAction
from proctor_benchmarks.sotopia.ratings import ENVIRONMENT, MOST_STALE, MOST_TURNS, ending
from proctor_benchmarks.sotopia.scene import Scene, rendered

Order = Literal["round-robin", "simultaneous", "random"]
Said = tuple[str, str]
Logged = tuple[str, str, str]


class EpisodeRules(msgspec.Struct, frozen=True, kw_only=True):
    """How an episode goes.

    Attributes:
        edition: sotopia as released, or the repository.
        order: who may act: one after the other, all at once, or one drawn by lot.
        max_turns: turns after which it is over.
        max_stale: how many actions in a row may be `none`.
    """

    edition: Edition = "package"
    order: Order = "round-robin"
    max_turns: Annotated[int, msgspec.Meta(ge=1, le=1000)] = MOST_TURNS
    max_stale: Annotated[int, msgspec.Meta(ge=0, le=1000)] = MOST_STALE


class SotopiaEpisode:
    """One episode under way.

    Attributes:
        turn: how many turns were played.
        may_act: True for those who may do something now.
        ended: why it is over, '' while it goes on.
        inbox: what the judge reads: who speaks, and what.
        log: sender, receiver and text of each message, by turn, as in the official file.
        histories: for each player, all it was shown.
    """

    def __init__(self, scene: Scene, rules: EpisodeRules, draw: random.Random | None = None) -> None:
        self.names = scene.names
        self.turn = 0
        self.ended = ""
        self.inbox: list[Said] = [(ENVIRONMENT, scene.background())]
        self.histories: list[list[str]] = [[] for _ in self.names]
        self.log: list[list[Logged]] = []
        self.seen: list[str] = []
        self._rules = rules
        self._draw = draw or random.Random(0)  # noqa: S311 - no secret
        self._acts: list[Said] = []
        self.may_act = self._mask()
        self._show([scene.background(index) for index in range(len(self.names))])

    def available(self, player: int) -> tuple[str, ...]:
        """Return what a player may do now."""
        return ACTION_TYPES if self.may_act[player] else ("none",)

    def step(self, actions: Sequence[PlayerAction]) -> None:
        """Play a turn with what each player does; those who may not act do nothing."""
        edition = self._rules.edition
        self.log[-1] += [
            (name, ENVIRONMENT, action.words(edition)) for name, action in zip(self.names, actions, strict=True)
        ]
        done = [action if may else SILENCE for action, may in zip(actions, self.may_act, strict=True)]
        self.turn += 1
        self.inbox.append((ENVIRONMENT, f"Turn #{self.turn}"))
        for name, action, may in zip(self.names, done, self.may_act, strict=True):
            if may or edition == "package":  # the release also keeps the silence of those whose turn it was not
                self.inbox.append((name, action.words(edition)))
                self._acts.append((name, action.action_type))
        self.ended = ending(
            self._acts,
            self.turn,
            most_turns=self._rules.max_turns,
            most_stale=self._rules.max_stale,
            players=self.names if edition == "main" else None,
        )
        self.may_act = self._mask()
        self._show([self._seen_by(index, done) for index in range(len(self.names))])

    def _mask(self) -> list[bool]:
        count = len(self.names)
        match self._rules.order:
            case "simultaneous":
                return [True] * count
            case "random":
                chosen = self._draw.randrange(count)
            case _:
                chosen = self.turn % count
        return [index == chosen for index in range(count)]

    def _seen_by(self, viewer: int, done: Sequence[PlayerAction]) -> str:
        """Return the turn as a player sees it; its text goes through the renderer too, so that tags in it vanish."""
        name, edition = self.names[viewer], self._rules.edition
        texts = [
            f"{sender} {action.words(edition)}"
            for sender, action in zip(self.names, done, strict=True)
            if action.action_type != "none" and (edition == "package" or action.is_seen_by(name, sender))
        ]
        return rendered(";".join(texts), f"agent_{viewer}")

    def _show(self, texts: Sequence[str]) -> None:
        self.seen = list(texts)
        form = "Turn #{before}: {text}\n" if self.turn else "\n{text}\nConversation Starts:\n"
        shown = [form.format(before=self.turn - 1, text=text) for text in texts]
        self.log.append([(ENVIRONMENT, name, text) for name, text in zip(self.names, shown, strict=True)])
        for history, text in zip(self.histories, shown, strict=True):
            history.append(text)


def history_for_judge(inbox: Sequence[Said]) -> str:
    """Return what the judge reads: all but silence, and but any speech that holds the words for silence."""
    return "\n".join(
        text if speaker == ENVIRONMENT else f"{speaker} {text}" for speaker, text in inbox if NOTHING not in text
    )
