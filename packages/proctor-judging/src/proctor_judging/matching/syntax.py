"""Read mathematics, LaTeX or plain, into our own tree."""

from fractions import Fraction
from functools import lru_cache
from typing import NoReturn

from proctor_judging.matching.tokens import FUNCTIONS, GREEK, tokens_of
from proctor_judging.matching.tree import NotMathematics, Tree

MOST_CHARACTERS = 10_000
DEEPEST = 40
MOST_POSTFIXES = 4
EMPTY = frozenset(["空集", "empty set", "the empty set"])
RELATIONS = frozenset(["=", "<", ">", "<=", ">=", "!="])
CLOSERS = frozenset([")", "]", "}", "\\}", ",", ";", "∪", "or", "and", "∈", "", *RELATIONS])


@lru_cache(maxsize=32)
def read_tree(text: str) -> Tree | None:
    """Return the tree of a tidy text; None when it is no mathematics or too long or deep.

    >>> read_tree("\\\\frac{1}{2}") == read_tree("1/2"), read_tree("listen"), read_tree("(1,2]").name
    (True, None, '(]')
    """
    if len(text) > MOST_CHARACTERS:
        return None
    if text.lower() in EMPTY:
        return Tree("empty")
    try:
        return _Reader(tokens_of(text)).whole()
    except NotMathematics:
        return None


class _Reader:
    """Recursive descent over the tokens; every nesting is counted."""

    def __init__(self, tokens: list[str]) -> None:
        self.tokens = tokens
        self.at = 0
        self.depth = 0

    def whole(self) -> Tree:
        if not self.tokens:
            raise NotMathematics
        tree = self.alternatives()
        if self.at != len(self.tokens):
            raise NotMathematics
        return tree

    def alternatives(self) -> Tree:
        parts = [self.relation()]
        while self.take("or"):
            parts.append(self.relation())
        return Tree("or", tuple(parts)) if len(parts) > 1 else parts[0]

    def relation(self) -> Tree:
        first = self.union()
        if self.take("∈"):
            return Tree("∈", (first, self.union()))
        chain, signs = [first], []
        while self.peek() in RELATIONS:
            signs.append(self.next())
            chain.append(self.union())
        return Tree("relation", tuple(chain), name=" ".join(signs)) if signs else first

    def union(self) -> Tree:
        parts = [self.sum()]
        while self.take("∪"):
            parts.append(self.sum())
        return Tree("union", tuple(parts)) if len(parts) > 1 else parts[0]

    def sum(self) -> Tree:
        self.depth += 1
        if self.depth > DEEPEST:
            raise NotMathematics
        parts = [self.product()]
        while self.peek() in ("+", "-", "±"):
            sign = self.next()
            part = self.product()
            parts.append(part if sign == "+" else Tree("neg" if sign == "-" else "±", (part,)))
        self.depth -= 1
        return Tree("+", tuple(parts)) if len(parts) > 1 else parts[0]

    def product(self) -> Tree:
        sign = self.next() if self.peek() in ("+", "-", "±") else ""
        while self.peek() in ("+", "-"):
            sign = {"+": sign, "-": "" if sign == "-" else "-"}[self.next()]
        parts = [self.power()]
        while True:
            if self.take("*"):
                parts.append(self.signed_power())
            elif self.take("/"):
                parts.append(Tree("/", (self.signed_power(),)))
            elif self.starts_factor():
                parts.append(self.power())
            else:
                break
        tree = Tree("*", tuple(parts)) if len(parts) > 1 else parts[0]
        return tree if sign in ("", "+") else Tree("neg" if sign == "-" else "±", (tree,))

    def signed_power(self) -> Tree:
        return Tree("neg", (self.power(),)) if self.take("-") else self.power()

    def power(self) -> Tree:
        tree = self.postfix(self.atom())
        if self.take("^"):
            if self.take("°"):
                return self.postfix(_degrees(tree))
            self.depth += 1
            if self.depth > DEEPEST:
                raise NotMathematics
            exponent = self.exponent()
            self.depth -= 1
            if exponent.op == "°":
                return _degrees(tree)
            return Tree("^", (tree, exponent))
        return tree

    def exponent(self) -> Tree:
        if self.take("{"):
            if self.take("°"):
                self.expect("}")
                return Tree("°")
            tree = self.sum()
            self.expect("}")
            return tree
        if self.peek() in ("-", "+"):
            sign = self.next()
            tree = self.power()
            return Tree("neg", (tree,)) if sign == "-" else tree
        return self.power()

    def postfix(self, tree: Tree) -> Tree:
        count = 0
        while self.peek() in ("!", "%", "°"):
            sign = self.next()
            count += 1
            if count > MOST_POSTFIXES:
                raise NotMathematics
            if sign == "!":
                tree = Tree("!", (tree,))
            elif sign == "%":
                tree = Tree("*", (tree, Tree("number", value=Fraction(1, 100))))
            else:
                tree = _degrees(tree)
        return tree

    def atom(self) -> Tree:
        mark = self.next()
        if mark[0].isdigit() or (mark[0] == "." and len(mark) > 1):
            return self.mixed(Tree("number", value=Fraction(mark)))
        if mark == "\\frac":
            return Tree("*", (self.argument(), Tree("/", (self.argument(),))))
        if mark == "\\binom":
            return _binomial(self.argument(), self.argument())
        if mark in FUNCTIONS:
            return self.function(mark)
        if mark in ("π", "∞") or (mark.isalpha() and (len(mark) == 1 or mark in GREEK)):
            return self.subscript(mark)
        if mark == "∅":
            return Tree("empty")
        if mark in ("{", "\\{"):
            return self.braces("}" if mark == "{" else "\\}")
        if mark in ("(", "["):
            return self.brackets(mark)
        if mark == "|":
            tree = self.sum()
            self.expect("|")
            return Tree("abs", (tree,))
        raise NotMathematics

    def mixed(self, number: Tree) -> Tree:
        """`3\\frac{1}{2}` and `3 1/2` are three and a half."""
        if self.peek() == "\\frac" and number.value.denominator == 1:
            at = self.at
            fraction = self.atom()
            above, below = fraction.parts[0], fraction.parts[1].parts[0]
            if above.op == below.op == "number" and below.value and 0 < above.value / below.value < 1:
                return Tree("number", value=number.value + above.value / below.value)
            self.at = at
        return number

    def argument(self) -> Tree:
        if self.take("{"):
            tree = self.sum()
            self.expect("}")
            return tree
        mark = self.peek()
        if mark.isdigit() and len(mark) > 1:  # \frac12
            self.tokens[self.at : self.at + 1] = list(mark)
        mark = self.next()
        if mark.isdigit():
            return Tree("number", value=Fraction(mark))
        if mark == "π" or (mark.isalpha() and len(mark) == 1):
            return Tree("name", name=mark)
        raise NotMathematics

    def function(self, name: str) -> Tree:
        self.depth += 1
        if self.depth > DEEPEST:
            raise NotMathematics
        base: Tree | None = None
        power: Tree | None = None
        if name == "sqrt" and self.take("["):
            base = self.sum()
            self.expect("]")
        if name == "log" and self.take("_"):
            base = self.argument()
        if self.take("^"):
            power = self.exponent()
        if self.peek() in ("(", "{", "["):
            closing = {"(": ")", "{": "}", "[": "]"}[self.next()]
            parts = [self.sum()]
            while self.take(","):
                parts.append(self.sum())
            self.expect(closing)
        else:
            parts = [self.power()]
            while name != "sqrt" and self.starts_factor() and self.peek() not in ("(", *FUNCTIONS):
                parts = [Tree("*", (*parts, self.power()))]
        self.depth -= 1
        tree = Tree(name, (*parts, *([base] if base is not None else [])))
        return tree if power is None else Tree("^", (tree, power))

    def subscript(self, name: str) -> Tree:
        if self.take("_"):
            if self.take("{"):
                below = ""
                while self.peek() not in ("}", ""):
                    below += self.next()
                self.expect("}")
            else:
                below = self.next()
            name = f"{name}_{below}"
        while self.take("'"):
            name += "'"
        return Tree("name", name=name)

    def braces(self, closing: str) -> Tree:
        if self.take(closing):
            return Tree("empty")
        parts = [self.relation()]
        while self.take(",") or self.take(";"):
            parts.append(self.relation())
        self.expect(closing)
        return Tree("set", tuple(parts))

    def brackets(self, opening: str) -> Tree:
        parts = [self.relation()]
        while self.take(",") or self.take(";"):
            parts.append(self.relation())
        closing = self.next()
        if closing not in (")", "]"):
            raise NotMathematics
        if len(parts) == 1:
            if (opening, closing) in (("(", ")"), ("[", "]")):
                return parts[0]
            raise NotMathematics
        return Tree("tuple", tuple(parts), name=opening + closing)

    def starts_factor(self) -> bool:
        mark = self.peek()
        if mark in ("(", "\\frac", "\\binom", "π", "∞") or mark in FUNCTIONS:
            return True
        if mark in CLOSERS or not mark:
            return False
        return mark.isalpha() and (len(mark) == 1 or mark in GREEK)

    def peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def next(self) -> str:
        if self.at >= len(self.tokens):
            raise NotMathematics
        self.at += 1
        return self.tokens[self.at - 1]

    def take(self, mark: str) -> bool:
        if self.at < len(self.tokens) and self.tokens[self.at] == mark:
            self.at += 1
            return True
        return False

    def expect(self, mark: str) -> None:
        if not self.take(mark):
            self.fail()

    def fail(self) -> NoReturn:
        raise NotMathematics


def _binomial(all_of: Tree, chosen: Tree) -> Tree:
    rest = Tree("!", (Tree("+", (all_of, Tree("neg", (chosen,)))),))
    return Tree("*", (Tree("!", (all_of,)), Tree("/", (Tree("!", (chosen,)),)), Tree("/", (rest,))))


def _degrees(tree: Tree) -> Tree:
    return Tree("*", (tree, Tree("name", name="π"), Tree("number", value=Fraction(1, 180))))
