"""The office that the bundled scenarios play in: facts to look up, things to reserve, texts to publish."""

from collections.abc import Mapping


class Office:
    """Tools that a team shares; what it reserved and published is the state."""

    def __init__(self, facts: Mapping[str, str] | None = None) -> None:
        self._facts = dict(facts or {})
        self._reserved: dict[str, str] = {}
        self._published: dict[str, str] = {}

    def state(self) -> dict[str, object]:
        """Return all that a team can change."""
        return {"reserved": self._reserved, "published": self._published}

    def look_up(self, topic: str) -> str:
        """Return what the files say on a topic. An unknown topic is an error that lists all topics.

        Args:
            topic: one of the topics
        """
        if topic not in self._facts:
            raise ValueError(f"no file on '{topic}'; there are: {', '.join(self._facts)}")
        return self._facts[topic]

    def reserve(self, thing: str, day: str) -> str:
        """Reserve a thing for a day; only one day is kept for each thing.

        Args:
            thing: its name in the files
            day: such as 2027-03-01
        """
        self._reserved[thing] = day
        return f"{thing} is reserved for {day}"

    def publish(self, channel: str, text: str) -> str:
        """Publish a text in place of what the channel shows.

        Args:
            channel: blog or board
            text: what people will read
        """
        self._published[channel] = text
        return f"published on {channel}"
