"""The rows of the leaderboard that are no models: guessing, the most frequent answer, and people.

Source: OpenDFM/MULTI-Benchmark, `docs/leaderboard.json` at 116ba59. The figures are per cent of the whole official set
(version 1.3), or of its MULTI-Elite, so they cannot be compared with a run on a part of it or on other questions.
"""

SOURCE = "OpenDFM/MULTI-Benchmark, docs/leaderboard.json at 116ba59: whole official set"
_LEVELS = ("JuH", "SeH", "Uni", "Driv", "AAT")
_CLASSES = ("NI", "SI", "MI")
_TYPES = ("SA", "MA", "MAAcc", "FB", "OP")
_PUBLISHED: dict[str, tuple[str, str]] = {
    "random": (
        "24.8 | 14.0 17.2 20.4 35.8 24.6 | 27.2 21.0 16.9 | 30.8 22.5 - 0.9 3.4",
        "17.7 | 10.8 16.5 17.3 32.7 45.8 | 14.6 19.7 16.0 | 28.0 13.3 - 0.5",
    ),
    "most": (
        "28.4 | 14.2 19.7 20.5 42.8 23.3 | 32.5 22.0 17.7 | 30.7 36.3 21 1.6 3.4",
        "24.5 | 14.5 25.6 23.5 45.0 36.4 | 22.2 26.4 20.3 | 26.4 33.2 16.3 1.6",
    ),
    "expert": (
        "86.1 | 87.8 82.9 88.2 91.7 76.7 | 86.6 85.3 81.8 | 91.4 81.1 70.3 83.4 46.4",
        "73.1 | 77.3 68.4 79.4 85.85 71.25 | 69.5 76.2 66.1 | 78.4 67.8 54.8 70.8",
    ),
}
NAMES = tuple(_PUBLISHED)


def rows(model_fields: tuple[str, ...]) -> list[dict[str, object]]:
    """Return the published rows as leaderboard entries; fields about the model are '-'.

    >>> [(row["Model"], row["MULTI"]["Overall"], row["MULTI-Elite"]["Type"]["SA"]) for row in rows(("Date",))]
    [('random', 24.8, 28.0), ('most', 28.4, 26.4), ('expert', 86.1, 78.4)]
    """
    empty = dict.fromkeys(model_fields, "-") | {"Url": "", "VersionUrl": ""}
    return [
        {"Model": name, **empty, "MULTI": _block(whole), "MULTI-Elite": _block(elite)}
        for name, (whole, elite) in _PUBLISHED.items()
    ]


def _block(text: str) -> dict[str, object]:
    overall, levels, classes, types = ([_figure(one) for one in part.split()] for part in text.split("|"))
    return {
        "Overall": overall[0],
        "Education": dict(zip(_LEVELS, levels, strict=True)),
        "Image": dict(zip(_CLASSES, classes, strict=True)),
        "Type": dict(zip(_TYPES, types, strict=False)),  # MULTI-Elite has no OP
    }


def _figure(text: str) -> float | str:
    return text if text == "-" else float(text)
