"""The rule for mathematics: expressions, equations, inequalities, sets, tuples and intervals."""

from collections.abc import Sequence
from fractions import Fraction

from proctor.core.errors import MissingExtra
from proctor.core.sentence import say
from proctor_judging.matching.identity import proportional, same_value
from proctor_judging.matching.numbers import close, read_number
from proctor_judging.matching.patterns import compile_later
from proctor_judging.matching.rational import OutOfReach, Undefined
from proctor_judging.matching.syntax import read_tree
from proctor_judging.matching.tree import CONSTANTS, Tree
from proctor_judging.matching.values import NeedsExtra, real_value, same_sign
from proctor_judging.matching.verdict import AnswerMatch, AnswerOptions, accept, differ, refuse, too_large

RULE = "mathematics"
NO_DIFFERENCE = compile_later(r"[\d.,]+(?:\s*-\s*[\d.,]+)+|\d+/\d+/\d+")  # a range, a score or a date
RADIANS = compile_later(r"\s*(?:\brad(?:ians?)?|弧度)$")
DEGREES = compile_later(r"\s*(?:\bdeg(?:rees?)?|度)$")
BARE_LIST = compile_later(r"[^=(){}\[\],]+(?:,[^=(){}\[\],]+)+")
MOST_ALTERNATIVES = 16
MOST_WORK = 20_000  # nodes to look at when every member of one set meets every member of the other
TURNED = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "=": "=", "!=": "!="}
INFINITE = Tree("name", name="∞")
STRUCTURES = ("set", "tuple", "union", "empty", "∈", "or")


def mathematics(answer: str, target: str, options: AnswerOptions) -> AnswerMatch | None:
    """Compare two mathematical expressions: equal for every value of their variables, or not.

    An equation and a bare value fit (`x = 3` and `3`); equations are equal when one is a multiple of the other.
    """
    answer, target = _alike(answer, target), _alike(target, answer)
    expected, tree = _tree(target), _tree(answer)
    if tree is None or expected is None or (tree.op == expected.op == "name" and tree != expected):
        return None
    if ("==" in answer) != ("==" in target) and "=" in answer and "=" in target:
        return refuse(RULE, say("One is a test with ==, the other sets a value with =."), ambiguous=True)
    try:
        if _same(tree, expected) or _close(tree, expected, options):
            return accept(RULE, say("Both are the same in mathematics."))
    except NeedsExtra:
        return AnswerMatch(
            right=False, rule=RULE, reason=MissingExtra("math", RULE).sentence, ambiguous=True, undecided=True
        )
    except OutOfReach:
        return too_large(RULE, answer, target)
    return differ(RULE, answer, target)


def _alike(text: str, other: str) -> str:
    """Return a text in the notation of the other: `π/2 rad` beside degrees, `5, -5` beside ±."""
    if "°" in other or DEGREES.search(other):
        text = RADIANS.sub("", text)
    if RADIANS.search(other):
        text = DEGREES.sub("°", text)
    return "\\{" + text + "\\}" if "±" in other + other.replace("\\pm", "±") and BARE_LIST.fullmatch(text) else text


def _tree(text: str) -> Tree | None:
    tree = None if NO_DIFFERENCE.fullmatch(text) else read_tree(text)
    if tree is None and (number := read_number(text)) is not None and not number.ordinal and not number.doubtful:
        return Tree("number", value=Fraction(number.value))
    return tree


def _same(one: Tree, other: Tree) -> bool:
    """Raises OutOfReach when that cannot be decided."""
    if one == other:
        return True
    first, second = _alternatives(one), _alternatives(other)
    if len(first) > 1 or len(second) > 1 or "set" in (one.op, other.op):
        return _same_members(_members(first, second), _members(second, first))
    one, other = first[0], second[0]
    if "∈" in (one.op, other.op):
        if one.op == other.op and one.parts[0] != other.parts[0]:
            return False
        return _same(one.parts[-1] if one.op == "∈" else one, other.parts[-1] if other.op == "∈" else other)
    if "relation" in (one.op, other.op):
        return _same_relation(one, other)
    if one.op in STRUCTURES or other.op in STRUCTURES:
        return _same_structure(one, other)
    try:
        return same_value(one, other)
    except Undefined:
        return False


def _same_structure(one: Tree, other: Tree) -> bool:
    if one.op != other.op or one.name != other.name or len(one.parts) != len(other.parts):
        return False
    if one.op == "union":
        return _same_members(one.parts, other.parts)
    return all(_same(first, second) for first, second in zip(one.parts, other.parts, strict=True))


def _same_members(one: Sequence[Tree], other: Sequence[Tree]) -> bool:
    nodes = [sum(sum(1 for _ in tree.nodes()) for tree in trees) for trees in (one, other)]
    if nodes[0] * len(other) + nodes[1] * len(one) > MOST_WORK or max(map(_set_depth, (*one, *other)), default=0) > 1:
        raise OutOfReach
    return all(any(_same(member, expression) for expression in other) for member in one) and all(
        any(_same(member, expression) for expression in one) for member in other
    )


def _set_depth(tree: Tree) -> int:
    return max(map(_set_depth, tree.parts), default=0) + (tree.op == "set")


def _members(alternatives: Sequence[Tree], others: Sequence[Tree]) -> Sequence[Tree]:
    """Return what may be the value; of equations the right sides, when the other side is no equation."""
    if len(alternatives) == 1 and alternatives[0].op == "set":
        return alternatives[0].parts
    if len(others) == 1 and others[0].op == "set":
        values = [_assigned(tree) for tree in alternatives]
        if all(value is not None and value[0] == (values[0] or ("",))[0] for value in values):
            return [value[1] for value in values if value is not None]
    return alternatives


def _alternatives(tree: Tree) -> list[Tree]:
    """`a or b`, and both signs of every ± (which change together)."""
    if tree.op == "or":
        variants = [variant for part in tree.parts for variant in _alternatives(part)]
        named = [value[0] for part in variants if (value := _assigned(part)) is not None]
        if named and len(set(named)) == 1 and len(named) == 1 and _assigned(variants[0]) is not None:
            name = variants[0].parts[0]  # x = 2 or -2
            variants = [variants[0], *(Tree("relation", (name, part), name="=") for part in variants[1:])]
    else:
        variants = [tree] if not _has_sign(tree) else [_signed(tree, "+"), _signed(tree, "neg")]
    if len(variants) > MOST_ALTERNATIVES:
        raise OutOfReach
    return variants


def _has_sign(tree: Tree) -> bool:
    return tree.op == "±" or any(_has_sign(part) for part in tree.parts)


def _signed(tree: Tree, sign: str) -> Tree:
    parts = tuple(_signed(part, sign) for part in tree.parts)
    if tree.op == "±":
        return parts[0] if sign == "+" else Tree("neg", parts)
    return Tree(tree.op, parts, tree.value, tree.name)


def _same_relation(one: Tree, other: Tree) -> bool:
    if one.op != "relation" or other.op != "relation":
        relation, value = (one, other) if one.op == "relation" else (other, one)
        if (assigned := _assigned(relation)) is not None:
            return _same(assigned[1], value)
        interval = _interval(relation)
        return interval is not None and value.op == "tuple" and _same_structure(interval[1], value)
    if (first := _interval(one)) is not None and (second := _interval(other)) is not None:
        return first[0] == second[0] and _same_structure(first[1], second[1])
    if len(one.parts) != 2 or len(other.parts) != 2:
        return False
    one, other = _turned(one), _turned(other)
    if one.name != other.name:
        return False
    if not one.variables() | other.variables():  # statements about numbers, not equations
        return all(_same(left, right) for left, right in zip(one.parts, other.parts, strict=True))
    try:
        left, right = _residue(one), _residue(other)
        return proportional(left, right) and (one.name in ("=", "!=") or same_sign(left, right))
    except Undefined:
        return False


def _assigned(tree: Tree) -> tuple[str, Tree] | None:
    """Return the name and the value of `x = 3` or `f(x) = 3`; None for other relations."""
    if tree.op != "relation" or tree.name != "=" or len(tree.parts) != 2:
        return None
    for left, right in (tree.parts, tree.parts[::-1]):
        name = _function_name(left)
        if name and name not in right.variables() and name not in CONSTANTS:
            return name, right
    return None


def _function_name(tree: Tree) -> str:
    if tree.op == "name":
        return tree.name
    if tree.op == "*" and len(tree.parts) == 2 and all(part.op == "name" for part in tree.parts):
        return tree.parts[0].name if tree.parts[0].name[:1] in "fghFGH" else ""
    return ""


def _interval(tree: Tree) -> tuple[str, Tree] | None:
    """Return the variable of an inequality and the interval it leaves: `0 <= x < 1` is x in [0, 1)."""
    signs = tree.name.split(" ")
    parts = tree.parts
    if len(parts) == 2 and signs[0] in ("<", "<=", ">", ">="):
        if parts[0].op == "name" and not parts[1].variables():
            name, sign, end = parts[0].name, signs[0], parts[1]
        elif parts[1].op == "name" and not parts[0].variables():
            name, sign, end = parts[1].name, TURNED[signs[0]], parts[0]
        else:
            return None
        if sign[0] == "<":
            return name, Tree("tuple", (Tree("neg", (INFINITE,)), end), name="(" + ("]" if "=" in sign else ")"))
        return name, Tree("tuple", (end, INFINITE), name=("[" if "=" in sign else "(") + ")")
    if len(parts) == 3 and parts[1].op == "name" and not parts[0].variables() | parts[2].variables():
        if signs[0][0] == signs[1][0] == ">":
            parts, signs = parts[::-1], [TURNED[signs[1]], TURNED[signs[0]]]
        if signs[0][0] == signs[1][0] == "<":
            brackets = ("[" if "=" in signs[0] else "(") + ("]" if "=" in signs[1] else ")")
            return parts[1].name, Tree("tuple", (parts[0], parts[2]), name=brackets)
    return None


def _turned(tree: Tree) -> Tree:
    if tree.name[0] == ">":
        return Tree("relation", tree.parts[::-1], name=TURNED[tree.name])
    return tree


def _residue(tree: Tree) -> Tree:
    return Tree("+", (tree.parts[0], Tree("neg", (tree.parts[1],))))


def _close(one: Tree, other: Tree, options: AnswerOptions) -> bool:
    if not options.tolerance and not options.relative_tolerance:
        return False
    values: list[Fraction] = []
    for tree in (one, other):
        expression = (_assigned(tree) or ("", tree))[1]
        if expression.op in STRUCTURES or expression.op in ("relation", "±") or expression.variables():
            return False
        try:
            value = real_value(expression)
        except Undefined:
            return False
        if abs(value) == float("inf"):
            return False
        values.append(Fraction(value))
    return close(values[0], values[1], options)
