"""Say when something is due: times as in crontab (Debian's rules for days on which clocks change), and hours of quiet."""

import re
from datetime import datetime, time, tzinfo

import msgspec

from proctor.core.errors import BadInput, needs

DAYS = 28  # over which the times of a schedule are counted
MOST_A_YEAR = 20_000.0
_SPAN = re.compile(r"([01]\d|2[0-3]):([0-5]\d)-([01]\d|2[0-3]):([0-5]\d)")


class Schedule:
    """Times that recur, such as `0 3 * * *`."""

    def __init__(self, text: str, zone: tzinfo | None = None) -> None:
        """Read a schedule; without a zone it is in the time of this machine.

        Raises:
            BadInput: it is none, or it names no time.
        """
        self.text, self._zone = text, zone
        self.after(0.0)

    def after(self, moment: float) -> float:
        """Return the next time after a moment, in Unix seconds."""
        with needs("watch", "proctor ci watch"):
            from cronsim import CronSim, CronSimError
        local = datetime.fromtimestamp(moment, self._zone)  # without a zone, in that of the machine
        try:
            return next(CronSim(self.text, local)).timestamp()
        except (CronSimError, StopIteration):
            raise BadInput(
                "'{text}' is no schedule. Give minute, hour, day, month and weekday as in crontab: 0 3 * * * is daily at three, */30 8-18 * * 1-5 every half hour of a working day.",
                text=self.text,
            ) from None

    def a_year(self, moment: float) -> float:
        """Return how often a year it is due, as far as the coming weeks show; at least once."""
        end, count = moment + DAYS * 86_400, 0
        while (moment := self.after(moment)) < end and count * 365 / DAYS < MOST_A_YEAR:
            count += 1
        return max(count * 365 / DAYS, 1.0)


class Quiet(msgspec.Struct, frozen=True):
    """Hours of the day without alerts; they may pass midnight."""

    start: time
    end: time
    zone: tzinfo | None = None

    @classmethod
    def read(cls, text: str, zone: tzinfo | None) -> "Quiet":
        """Read `22:00-08:00`.

        Raises:
            BadInput: it is written otherwise.
        """
        match = _SPAN.fullmatch(text.strip())
        if match is None:
            raise BadInput("Quiet hours are written 22:00-08:00, not '{text}'.", text=text)
        first, second, third, fourth = map(int, match.groups())
        return cls(time(first, second), time(third, fourth), zone)

    def covers(self, moment: float) -> bool:
        """True if a moment in Unix seconds is in them."""
        now = datetime.fromtimestamp(moment, self.zone).time()
        return self.start <= now < self.end if self.start <= self.end else now >= self.start or now < self.end
