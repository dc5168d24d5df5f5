"""Fit the strengths of systems, and effects of style, to who won: logistic regression by Newton's method."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence

import msgspec

_STEPS = 100
_CLOSE = 1e-10
_LONGEST_STEP = 2.0
_STYLE_RIDGE = 0.01  # keeps the effect of a style finite that decides every battle; else too weak to be seen


class BattleRow(msgspec.Struct, frozen=True):
    """A battle between systems, given by their indices, with its covariates on one scale."""

    first: int
    second: int
    won: float
    style: tuple[float, ...]


class LogisticFit(msgspec.Struct, frozen=True):
    """The strengths, then the effects of style, and the inverse of the Fisher information."""

    parameters: list[float]
    inverse: list[list[float]]


def fit(rows: Sequence[BattleRow], systems: int, styles: int) -> LogisticFit:
    """Maximise the likelihood by Newton's method, starting from equal strengths; the strengths sum to 0."""
    merged = Counter[BattleRow]()
    for row in rows:
        merged[row] += 1
    parameters = [0.0] * (systems + styles)
    for _ in range(_STEPS):
        gradient, information = _derivatives(merged, parameters, systems)
        step = _solve(information, [[value] for value in gradient])
        longest = max(abs(move) for [move] in step)
        scale = min(1.0, _LONGEST_STEP / longest) if longest else 1.0
        parameters = [parameter + scale * move for parameter, [move] in zip(parameters, step, strict=True)]
        if longest < _CLOSE:
            break
    _, information = _derivatives(merged, parameters, systems)
    unit = [[float(i == j) for j in range(len(parameters))] for i in range(len(parameters))]
    return LogisticFit(parameters, _solve(information, unit))


def _derivatives(
    rows: Mapping[BattleRow, int], parameters: Sequence[float], systems: int
) -> tuple[list[float], list[list[float]]]:
    size = len(parameters)
    gradient = [-_STYLE_RIDGE * parameter if index >= systems else 0.0 for index, parameter in enumerate(parameters)]
    # ones among the strengths leave their sum at 0 and make the matrix invertible
    information = [[float(i < systems and j < systems) for j in range(size)] for i in range(size)]
    for index in range(systems, size):
        information[index][index] = _STYLE_RIDGE
    for row, times in rows.items():
        chance = chance_of(row, parameters, systems)
        weight = times * chance * (1 - chance)
        moved = direction(row, systems)
        for i, x in moved:
            gradient[i] += times * (row.won - chance) * x
            for j, y in moved:
                information[i][j] += weight * x * y
    return gradient, information


def direction(row: BattleRow, systems: int) -> list[tuple[int, float]]:
    return [(row.first, 1.0), (row.second, -1.0), *enumerate(row.style, systems)]


def chance_of(row: BattleRow, parameters: Sequence[float], systems: int) -> float:
    return sigmoid(math.fsum(parameters[index] * x for index, x in direction(row, systems)))


def sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x))


def _solve(matrix: Sequence[Sequence[float]], right: Sequence[Sequence[float]]) -> list[list[float]]:
    """Solve by Gauss-Jordan elimination with the largest pivot; `right` has a column for each system of equations."""
    lines = [[*line, *values] for line, values in zip(matrix, right, strict=True)]
    size = len(lines)
    for column in range(size):
        pivot = max(range(column, size), key=lambda place: abs(lines[place][column]))
        lines[column], lines[pivot] = lines[pivot], lines[column]
        head = lines[column][column]
        lines[column] = [value / head for value in lines[column]]
        for place in range(size):
            factor = lines[place][column]
            if place != column and factor:
                lines[place] = [
                    value - factor * other for value, other in zip(lines[place], lines[column], strict=True)
                ]
    return [line[size:] for line in lines]
