"""Word what each player knows when an episode begins.

    {"pk": "e1", "scenario": "Two people at a market stall.", "agent_goals": ["Sell <extra_info>for 5</extra_info>", "Buy"],
     "relationship": 3}

A player reads its own background and goal; those of the others are `Unknown` to it, whatever the relationship: the official
code hides all of them after it has worked out what the relationship lets it see.

Source: sotopia 0.1.5 and a0aaafb440e5, `envs/parallel.py`, `messages/message_classes.py`, `renderers/xml_renderer.py`,
`database/persistent_profile.py`.
"""

import re
from collections.abc import Sequence
from io import StringIO
from typing import TYPE_CHECKING, Annotated, Any

import msgspec

from proctor.core.errors import needs

if TYPE_CHECKING:
    from lxml.etree import _Element

RELATIONSHIPS = ("stranger", "know_by_name", "acquaintance", "friend", "romantic_relationship", "family_member")
UNKNOWN = "Unknown"
SHOWN_TAGS = ("root", "p", "extra_info", "clarification_hint", "strategy_hint")
_GENDERS = {"Man": "male", "Woman": "female", "Nonbinary": "nonbinary"}
_INDENTED = re.compile(r"\n +")
_MARKED = re.compile("[<&>\r\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")  # what XML reads as more than text
_NO_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


class Profile(msgspec.Struct, frozen=True, kw_only=True):
    """A character, with the fields of the official `AgentProfile` that a player or the judge reads."""

    pk: str = ""
    first_name: str
    last_name: str
    age: int = 0
    occupation: str = ""
    gender: str = ""
    gender_pronoun: str = ""
    public_info: str = ""
    personality_and_values: str = ""
    secret: str = ""

    @property
    def name(self) -> str:
        """Return the name by which other characters address this one."""
        return f"{self.first_name} {self.last_name}"


class Setting(msgspec.Struct, frozen=True, kw_only=True):
    """What happens where, with the goal of each player: the official `EnvironmentProfile`."""

    pk: str = ""
    codename: str = ""
    scenario: str
    agent_goals: Annotated[tuple[str, ...], msgspec.Meta(min_length=2, max_length=20)]
    relationship: Annotated[int, msgspec.Meta(ge=0, le=5)] = 0


class Scene(msgspec.Struct, frozen=True, kw_only=True):
    """A setting with those who play in it."""

    setting: Setting
    profiles: tuple[Profile, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(profile.name for profile in self.profiles)

    def background(self, viewer: int | None = None) -> str:
        """Return what a player knows at the beginning; all of it for the judge."""
        eye = "environment" if viewer is None else f"agent_{viewer}"
        own = range(len(self.profiles)) if viewer is None else (viewer,)
        goals = [*self.setting.agent_goals, *self._spare_goals()]
        abouts = [
            rendered(_biography(self.setting.relationship, profile, index), eye) if index in own else UNKNOWN
            for index, profile in enumerate(self.profiles)
        ]
        wishes = [
            rendered(f"<root viewer='agent_{index}'>{goals[index]}</root>", eye) if index in own else UNKNOWN
            for index in range(len(self.profiles))
        ]
        return _in_words(rendered(self.setting.scenario, eye), self.names, abouts, wishes)

    def _spare_goals(self) -> list[str]:
        count = len(self.profiles)
        missing = max(0, count - len(self.setting.agent_goals))
        return [f"Participate effectively in this {count}-agent interaction"] * missing


def unindented(text: str) -> str:
    """Return a text as the official code sends it: lines begin without spaces."""
    return _INDENTED.sub("\n", text).strip()


def rendered(text: str, viewer: str) -> str:
    """Return the text that a viewer, `environment` or `agent_0`, sees of one with tags.

    Tags vanish with what is in them unless they are among `SHOWN_TAGS`, or the viewer is the environment; an element
    whose attribute `viewer` names another is left out. What only looks like tags is repaired as libxml2 does it.
    """
    if not _MARKED.search(text):
        return text
    root = _parsed(_NO_XML.sub("", text))
    if root is None:
        return text
    if root.tag not in SHOWN_TAGS:
        return ""
    return "".join(root.xpath("//text()")) if viewer == "environment" else _visible(root, viewer)


def _visible(element: "_Element", viewer: str) -> str:
    if element.tag not in SHOWN_TAGS:
        return ""
    parts: Sequence[str | _Element] = element.xpath("./node()[not(@viewer) or @viewer=$viewer]", viewer=viewer)
    return "".join(part if isinstance(part, str) else _visible(part, viewer) for part in parts)


def _parsed(text: str) -> "_Element | None":
    """Return the root of a text, of one within a root, or of whatever can be saved; None where upstream breaks off."""
    etree = xml_library()
    for attempt in (text, f"<root>{text}</root>"):
        try:
            return etree.fromstring(attempt)
        except (etree.XMLSyntaxError, ValueError):
            continue
    escaped = text.replace("&", "&amp;")
    try:
        parser = etree.XMLParser(recover=True, encoding="utf-8")
        return etree.parse(StringIO(f"<root>{escaped}</root>"), parser).getroot()
    except (etree.XMLSyntaxError, ValueError):
        return None


def xml_library() -> Any:
    """Return lxml's etree.

    Raises:
        MissingExtra: it is not installed.
    """
    with needs("sotopia", "sotopia"):
        from lxml import etree
    return etree


def _biography(relationship: int, profile: Profile, index: int) -> str:
    """Return the character in words, with what an acquaintance of that degree may not know kept for itself."""
    one = profile
    gender = _GENDERS.get(one.gender, "")
    facts = (
        f"is a {one.age}-year-old {gender} {one.occupation.lower()}. {one.gender_pronoun} pronouns. {one.public_info}"
    )
    values = f"Personality and values description: {one.personality_and_values}"
    secrets = f"{one.first_name}'s secrets: {one.secret}"
    own = f"<p viewer='agent_{index}'>"
    match relationship:
        case 0:
            return f"<root>{own}{one.name} {facts} {values} {secrets}</p></root>"
        case 1:
            return f"{one.name} {own}{facts} {values} {secrets}</p>"
        case 2:
            return f"{one.name} {facts} {own}{values} {secrets}</p>"
        case _:
            return f"{one.name} {facts} {values} {own}{secrets}</p>"


def _in_words(scenario: str, names: Sequence[str], abouts: Sequence[str], wishes: Sequence[str]) -> str:
    joined = " and ".join(names) if len(names) < 3 else f"{', '.join(names[:-1])}, and {names[-1]}"
    about = "".join(f"{name}'s background: {text or UNKNOWN}\n" for name, text in zip(names, abouts, strict=True))
    goal = "".join(f"{name}'s goal: {text}\n" for name, text in zip(names, wishes, strict=True))
    backgrounds = f"{about.strip()}\n" if any(abouts) else ""
    return unindented(
        f"Here is the context of this interaction:\nScenario: {scenario}\nParticipants: {joined}\n{backgrounds}{goal.strip()}\n"
    )
