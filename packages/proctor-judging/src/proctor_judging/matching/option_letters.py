"""Read the letters of the options that a reply chooses."""

import re
from collections.abc import Mapping, Sequence
from functools import partial

import msgspec

from proctor_judging.matching.denied_options import AFFIRMED, Mention, asked_apart, asks_for_wrong, read_mentions
from proctor_judging.matching.marked_answers import half_width, last_boxed, without_thoughts
from proctor_judging.matching.option_wording import plain_wording
from proctor_judging.matching.question_words import echo
from proctor_judging.matching.sentences import CLAUSE, CONCLUDES, corrected, split
from proctor_judging.matching.text import negations

_MARK = (
    r"(?:(?i:\b(?:final|correct|right|best)?\s{0,3}(?:ans\b|answers?|(?:(?<=correct\s)|(?<=right\s)|(?<=best\s))(?:options?|choices?))"
    r"|\b(?:choose|chose|select|pick|(?:go(?:ing)?|went)\s+(?:with|for)|opt(?:ed|ing)?\s+for|settled?\s+(?:on|for)|my\s+(?:choice|pick)"
    r"|leav(?:es|ing)|left\s+with|(?:what\s+)?remain(?:s|ing)|therefore|thus|hence|it\s+(?:must|has\s+to)\s+be))"
    r"|(?i:\b(?:it(?:['’]s|\s+is)(?=\s\(?[A-H]\)?(?:\s+that\b|[.,;]|$))|i(?:['’]d|\s+would)?\s+say|so(?=,?\s[A-H]\W*$)))"
    r"|(?i:\bonly(?=\s\(?[A-H]\)?\s(?:works|fits|matches|meets|remains|satisfies|can|does|has|is(?!\s(?:\w+ly\s)?(?:correct|right|true|false|wrong))))\b)"
    r"|只有|唯有|唯独|那么?就是|(?:应|该)是(?=[A-H])|即(?=[A-H]\W*$)|得(?=[A-H]\W*$)"
    r"|答案|结论|正确(?:的)?(?:选项|说法)?(?=[应是为有:])|选(?!项)择?|而是|正是|只能是|剩下?|剩余|故)"
)
_LINK = (
    r"[\s*_`\"'“”‘’:,】)\]–—-]{0,6}(?:(?i:\b(?:us\s+with|me\s+with|only|just|is|are|was|would\s+be|should\s+be|must\s+be)\b)|应该是|应该为|应为|应是|应选|应该选|就是|是|为|有|选)?"
    r"[\s*_`\"'“”‘’:]{0,6}(?:(?i:(?:both\s+|the\s+)?(?:options?|choices?|letters?)\s+)|选项)?[\s*_`\"'“”‘’(\[【{「<]{0,6}"
)
_BETWEEN = r"[\s)\]】}>*_`]{0,3}(?:,\s?(?i:and|or)\b|[,/&+、]|;(?=\s?\(?[A-Z]\)?\W*(?:[A-Z]\W*)*$)|\.(?!\s)|和|与|及|以及|或|(?i:\band\b|\bor\b))[\s(\[【{<*_`]{0,3}(?:(?i:options?|choices?|statements?)\s|选项)?|[ \t]{1,3}"
_EDGE = r"(?![A-Za-z'’])"
_OR = re.compile(r"\bor\b|或|还是", re.IGNORECASE)
_ITEM = (
    r"(?<![A-Za-z\\])(?:[{options}]{{2,8}}|[{options}](?:(?:(?:\s?[/&、]\s?|和|与|及|或)(?:选项)?[{options}]){{1,8}}"
    r"|(?:(?:\s?,\s?|,?\s(?:and|or|nor)\s)(?:(?i:options?|choices?|statements?)\s)?[{options}]){{0,8}}))(?![A-Za-z'’])[)\]】}}*_`]{{0,3}}"
)
_ALL = re.compile(
    r"(?i:\b(?:all(?: (?:of )?(?:the|these|them|those|above))*(?: \w+){0,3}? (?:are|is) (?:\w+ly )?(?:correct|right|true|valid)|(?:choose|select|pick|it is|it's|answer:?|answer is) all(?: of (?:them|the above|these))?\b|^\W*all (?:of (?:them|the above|these)|four|five)\W*$))"
    r"|(?:全选|都选|(?:所有|全部|[三四五]个?|各)(?:的)?(?:选?项|说法)[^，。]{0,4}?(?:全|都|均)(?:部)?(?:正确|对|符合|应选))"
)
_ALL_BUT = re.compile(
    r"(?i:\b(?:all|everything|every (?:option|one|statement))\b[^.,;]{0,30}?\b(?:except|but|apart from|aside from|other than|save|besides)\b|\bthe (?:others?|rest|remaining)(?: \w+){0,2} (?:is|are) (?:\w+ly )?(?:correct|right|true))"
    r"|除(?:了)?(?:选?项)?\s?[A-Z、和与]+[^，。]{0,5}(?:外)?[，,]?[^，。不]{0,8}(?:正确|对|符合|可选|应选|都选)|其[余他它][^，。]{0,8}(?:正确|对的?|符合|都[是选](?=[，。；]|的|$))"
)
_NONE = re.compile(
    r"(?i:(?:(?<![A-Za-z][.:])(?<=[,.;:])\s|\b(?:so|hence|thus|is|answer)\s)\s?none(?: of (?:them|these|those|the (?:above|options|choices)))?\W*$)"
)
_IT_IS = re.compile(r"^(?:it|that|this)(?:'s|\s(?:is|was|would\sbe))\s(?:the\s)?", re.IGNORECASE)
_BUT = re.compile(r"\b(?:but|yet|however)\b|但|不过|然而", re.IGNORECASE)
_ORDINALS = ("first", "second", "third", "fourth", "fifth", *"一二三四五")
_ORDINAL = re.compile(
    r"(?:\bthe )?\b(first|second|third|fourth|fifth|last) (?:one|option|choice|answer|statement)\b|(?:\bthe |^\W*)(first|second|third|fourth|fifth|last)(?=\W*$)|(第[一二三四五]|最后一)(?:(?:个选)?项|[组句](?=\W|$))",
    re.IGNORECASE,
)
_LETTERS = "ABCDEFGHIJ"
_LISTED = re.compile(r"^[ \t]*\(?([A-J])[.、:)]+[ \t]*(\S.{0,400})$", re.MULTILINE)
_UNKNOWN = 8  # the number of letters that are assumed where the options are not known
_FIRST = r"[\s*_`(\[【]{{0,4}}(?:(?i:option|choice)\s|选项\s?)?([{options}]+)[*_`]{{0,2}}[)\]】]?(?:[,，:;。.]|\s*[-–—(]|\s(?:because|since|as)\b|\s*(?:因为|理由|解析))"
_TAGGED = re.compile(
    r"<answer>\s*(.{1,200}?)\s*</answer>|\{\s*\"(?:final_?)?answer\"\s*:\s*(.{1,200}?)\}", re.IGNORECASE
)
_DOUBTED = re.compile(
    r"(?i:\b(?:whether|doubt|n['’]t\s+(?:think|believe)|wrong\s+to|if)\b)[^.!?。！？\n]{0,60}$|(?:是否|不认为|怀疑)[^。！？\n]{0,30}$"
)
_ASKED = re.compile(r"[^.!?。！？\n]{0,200}[?？]")
_TAIL = 200_000  # characters at the end of a reply that are looked at
_LONGEST = 20_000  # characters of a reply whose denials are read
_BEFORE = re.compile(
    r"(?:^|[^\w\s°+#%&'’-]\s*|[\u3400-\u9fff]\s?|\n\s*|\b(?:is|are|be|was|it['’]s|choose|chose|pick|picked|select|selected|say|said|think|guess|believe|with|"
    r"for|clearly|obviously|definitely|certainly|surely|options?|choices?|letters?|answers?|prefer|rather|instead|therefore|thus|so|hence|only|both|and|or|but|to|remains|leaves|either)\s+)$",
    re.IGNORECASE,
)  # what may precede a letter that stands alone in a sentence: not `20 °C`, `the C major scale`
_AFTER = re.compile(
    r"[*_`)\]】}\"”'’$]{0,3}(?:$|[.,;:!?、。，；：\n)(-](?![A-Za-z\d])|\s?[两三四]?[选项是对正错不为和与及最因符应该较也都均更才吧呢即]|\s+(?:is|are|was|it|would|seems?|looks?|must|should|will|can|has|have|because|as|since|remains?|fits?|and|or|"
    r"best|only|for|alone|too|again|then|if|here|[a-z]{3,}s\b|(?!=)\W))",
    re.IGNORECASE,
)
_REASON = re.compile(r",?\s(?:as|since|because|while|whereas)\s", re.IGNORECASE)
_NAMED = re.compile(
    r"\b(?:an?|vitamin|plan|hepatitis|influenza|point|grade|side|team|type|group|class|section|figure|fig\.|part|note|note|step|"
    r"column|row|node|city|town|station|gate|room|hall|block|angle|line|player|person|company|product|variable|matrix|set)\s$|(?:附录|型号|维生素|肝炎|计划|方案|血型|型|点|队|班|组)\s?$",
    re.IGNORECASE,
)  # Vitamin B
_NUTRIENT = re.compile(r"(?:\bvitamin|\bhepatitis|\binfluenza|维生素|肝炎)\s?$", re.IGNORECASE)
_WORD = re.compile(" [a-z]")
_PREDICATE = re.compile(r"([\u3400-\u9fff]{2}|^\W*是)[于是在为了有：:]{0,2}[《“(（]?[A-H](?![A-Za-z])")
_WITHIN = re.compile(r"[a-z,]\s$")
_VERB = re.compile(r" (?:and|or|is|because|since|as)\b")


def read_letters(reply: str, options: str = "ABCDEFGH", question: str = "") -> str | None:
    """Return the option letters that a reply gives as its answer, each once and in order; None if it gives none.

    In this order: a box or tag, a reply of letters alone, the last announcement (`答案是 A、C`, `The answer is AC`, `选B`), a
    first line of letters alone, the options called right, the one option at the start of a line (`B. Paris`), the letters that
    stand alone in the last line or in the reply. Options called wrong, questions and what was corrected do not count; `A or B`
    is no answer.

    >>> read_letters("答案是 A、C"), read_letters("The answer is AC"), read_letters("选B"), read_letters("Ｂ"), read_letters("No idea")
    ('AC', 'AC', 'B', 'B', None)
    >>> read_letters("It is C, not B."), read_letters("Not A"), read_letters("C\\n\\nExplanation: A is wrong."), read_letters("A or B")
    ('C', None, 'C', None)
    """
    return read_choice(reply, options, question).chosen


class ChosenLetters(msgspec.Struct, frozen=True):
    """The letters that a reply chooses, or else the one at which it only guesses; and those that it denies.

    `others` are those that it names as well, where nothing but their place in a sentence says which are chosen; `marked` says
    that words such as `the answer is` announce the chosen ones.
    """

    chosen: str | None
    guessed: str = ""
    denied: str = ""
    others: str = ""
    marked: bool = False


def read_choice(reply: str, options: str, question: str = "") -> ChosenLetters:
    """Return the letters that a reply chooses as `read_letters` does, and the one option that it only guesses."""
    text = without_thoughts(reply)[-_TAIL:].replace("’", "'")
    group = _group(options)
    tagged = [match[1] or match[2] for match in _TAGGED.finditer(text[-_LONGEST:])]
    for inside in (last_boxed(text), *tagged[-1:], text):
        if inside is not None and (found := _alone(inside, group)) is not None:
            return ChosenLetters(found or None, marked=bool(found))
    if len(text) > _LONGEST:
        return ChosenLetters(_chosen(text, (), options, group))
    text = _with_ordinals(_ASKED.sub(" ", corrected(text)), options)
    text = plain_wording(text, question, wrong_wanted=asks_for_wrong(question))
    mentions = _mentions(text, options, wrong_wanted=asks_for_wrong(question))
    if (found := _of_all(text, options, mentions)) is not None:
        return ChosenLetters(found or None)
    plain = _without(text, [mention for mention in mentions if mention.said in ("denied", "guessed")])
    plain = AFFIRMED.sub(lambda match: " is " if match[0].isascii() else " ", plain)
    guessed = {_each(mention.letters) for mention in mentions if mention.said == "guessed"}
    chosen = _chosen(plain, mentions, options, group)
    placed = _standing_alone(plain, group) if chosen is None else None
    denied = "".join(_each(mention.letters) for mention in mentions if mention.said == "denied")
    groups = sorted((_each(mention.letters) for mention in mentions), key=len)
    if chosen is None and placed is None and denied and not guessed:
        chosen = _left_over(mentions, denied, options)
    elif asks_for_wrong(question) and [*map(len, groups)] == [1, len(options) - 1] and len(options) > 2:
        chosen = chosen or groups[0]  # apart from all others
    if chosen is None and placed is not None:
        named = dict.fromkeys(
            letter for mention in mentions if mention.said == "named" for letter in _each(mention.letters)
        )
        return ChosenLetters(placed, "", denied, "".join(letter for letter in named if letter not in placed))
    marked = bool(
        _after_mark(plain, group)
        or re.match(_FIRST.format(options=options), plain)
        or _alone(plain.strip().split("\n")[0], group)
    )
    return ChosenLetters(chosen, guessed.pop() if chosen is None and len(guessed) == 1 else "", denied, marked=marked)


def _with_ordinals(text: str, options: str) -> str:
    """Return a reply with the letters of options for their places, where it is known how many there are: `The last one`, `第一项`."""
    if len(options) >= _UNKNOWN:
        return text

    def letter(found: re.Match[str]) -> str:
        word = (found[1] or found[2] or found[3].removeprefix("第")).casefold()
        index = len(options) - 1 if word in ("last", "最后一") else _ORDINALS.index(word) % 5
        return f"option {options[index]}" if index < len(options) else found[0]

    return _ORDINAL.sub(letter, text)


def _chosen(plain: str, mentions: Sequence[Mention], options: str, group: str) -> str | None:
    """Return the letters chosen in a text without its denials; None without any, or with alternatives."""
    if (letters := _after_mark(plain, group)) is not None:
        return letters or None
    lines = plain.strip(" ,，。;\n").splitlines() or [""]
    if (letters := _alone(lines[0], group)) is not None and not (len(lines) > 1 and _alone(lines[-1], group)):
        return letters or None
    if (letters := _alone(plain.strip(" ,，。;\n"), group)) is not None:
        return letters or None
    if right := [mention.letters for mention in mentions if mention.said == "right"]:
        return None if any(map(_OR.search, right)) else _each("".join(right))
    starts: dict[str, None] = dict.fromkeys(
        re.findall(
            rf"^[\s*_`(\[]{{0,4}}([{options}])[*_`]{{0,2}}[.、:)\]](?!\w\.|\s?[{options}](?![A-Za-z]))",
            plain,
            re.MULTILINE,
        )
    )
    if (
        len(starts) > 1
        and len(starts) == len([line for line in lines if line.strip()])
        and list(starts) == sorted(starts)
    ):
        return "".join(starts) if len(starts) < min(len(options), 4) else None  # options by line, but not all of them
    if (first := re.match(_FIRST.format(options=options), plain)) is not None and _in_order(first[1]):
        return None if _OR.match(plain[first.end() :].lstrip()) else _each(first[1])
    if len(starts) == 1:
        return next(iter(starts))
    return None


def _standing_alone(plain: str, group: str) -> str | None:
    last = plain.rstrip().rpartition("\n")[2]
    return _only(last, group) or _only(plain, group) or _only(_REASON.split(last, maxsplit=1)[0], group)


def _left_over(mentions: Sequence[Mention], denied: str, options: str) -> str | None:
    """Return the one option that a reply names and does not deny, where it denies others; or that is left of those there are."""
    left = [letter for letter in options if letter not in denied]
    if len(left) == 1 and len(options) < _UNKNOWN and len(options) > 2:
        return left[0]
    named = {_each(mention.letters) for mention in mentions if mention.said in ("named", "right")}
    letter = named.pop() if len(named) == 1 else ""
    return letter if len(letter) == 1 and letter not in denied else None


def _mentions(text: str, options: str, *, wrong_wanted: bool) -> list[Mention]:
    items = [
        match
        for match in re.finditer(_ITEM.format(options=options), text)
        if not _is_article(text, match)
        and _in_order(re.split(r"[^A-Z]", match[0])[0])
        and not _NUTRIENT.search(text[max(0, match.start() - 12) : match.start()])
    ]
    return read_mentions(text, items, wrong_wanted=wrong_wanted)


def _without(text: str, mentions: Sequence[Mention]) -> str:
    for mention in reversed(mentions):
        text = text[: mention.start] + " " + text[mention.end :]
    return text


def _of_all(text: str, options: str, mentions: Sequence[Mention]) -> str | None:
    """Return the options of a reply that chooses all there are, or all but some, of four where they are not known; None for other replies."""
    if _NONE.search(text) is not None:
        return ""
    known = options if len(options) < _UNKNOWN else "ABCD"
    if not known or any(mention.said in ("right", "named") for mention in mentions):
        return None
    denied = {letter for mention in mentions for letter in _each(mention.letters)}
    pattern = _ALL_BUT if denied else _ALL
    return None if pattern.search(text) is None else "".join(letter for letter in known if letter not in denied) or None


def may_hold(reply: str, text: str) -> bool:
    """False if the text is nowhere in the reply, in either case: told sooner than by a pattern, which has to be compiled for the text.

    >>> may_hold("It is LYON.", "Lyon"), may_hold("It is Lyon.", "Nice")
    (True, False)
    """
    return _folded(text) in _folded(reply)


def _folded(text: str) -> str:
    return text.casefold().replace("i\u0307", "i").replace("ı", "i")  # all of which a pattern takes for an i


def with_letters(reply: str, texts: Mapping[str, str]) -> str:
    """Return the reply with the text of each option replaced by its letter.

    >>> with_letters("It is Lyon, not Nice.", {"A": "Nice", "B": "Lyon"})
    'It is B, not A.'
    """
    letter_by_text = {text.strip().casefold(): letter for letter, text in texts.items() if text.strip()}
    longest_first = sorted(filter(partial(may_hold, reply), letter_by_text), key=len, reverse=True)
    if not longest_first:
        return reply
    texts_in_order = "|".join(map(re.escape, longest_first))
    return re.sub(
        rf"(?:(?<![A-Za-z\d])|(?=[\u3400-\u9fff]))(?:an?\s)?([\"'“‘《])?({texts_in_order})(?(1)[\"'”’》]|(?:'s\b|(?<=[a-z]{{3}})s\b)?)(?:(?![A-Za-z\d])|(?<=[\u3400-\u9fff]))",
        lambda found: letter_by_text.get(found[2].casefold(), found[0]),
        reply,
        flags=re.IGNORECASE,
    )


def options_in(question: str) -> dict[str, str]:
    r"""Return the options that a question lists by letter, a line each; {} unless they begin with A and follow one another.

    >>> options_in("Which is a gas?\nA. Iron\n(B) Argon"), options_in("A. Smith wrote it.\nWho else?")
    ({'A': 'Iron', 'B': 'Argon'}, {})
    """
    text_by_letter = {match[1]: match[2].strip() for match in _LISTED.finditer(half_width(question[-_LONGEST:]))}
    in_order = list(text_by_letter) == list(_LETTERS[: len(text_by_letter)])
    return text_by_letter if in_order and len(text_by_letter) > 1 else {}


def without_texts(reply: str, texts: Mapping[str, str]) -> str:
    """Return the reply with its letters alone where the text of their option follows them.

    >>> without_texts("They are **A (2)** and C. eleven.", {"A": "2", "B": "9", "C": "eleven"})
    'They are **A** and C.'
    """
    for letter, text in texts.items():
        if text.strip() and may_hold(reply, text.strip()):
            words = re.escape(text.strip())
            after = rf"(?<![A-Za-z\d])(\(?{letter}\)?)(\*\*)?(?:[.、:：)]|\s?[-–—])?\s{{0,2}}(?:[(（]{words}[)）]|(?<=[.、:：)\s*-]){words}(?![\w]))"
            reply = re.sub(
                rf"(?<![A-Za-z\d]){words}\s?[(（](?:option |选项)?({letter})[)）]", r"(\1)", reply, flags=re.IGNORECASE
            )
            reply = re.sub(after, r"\1\2", reply, flags=re.IGNORECASE) if text.strip() != letter else reply
            if letter != "A":
                reply = re.sub(rf"\bA\s(?={words}(?!\w))", "a ", reply, flags=re.IGNORECASE)
    return reply


def nearest_option(text: str, options: str, question: str) -> str | None:
    """Return the one option that is named in the clause nearest to the words of the question, or in the last after a `but`.

    >>> nearest_option("A was the capital of the Tang, while the capital of the Song was D.", "ABCD", "What was the Song capital?")
    'D'
    """
    asked = echo(asked_apart(question))
    shared: dict[str, int] = {}
    for clause in (clause for sentence in split(_ASKED.sub(" ", text)) for clause in _clauses(sentence, options)):
        mentions = _mentions(clause, options, wrong_wanted=asks_for_wrong(question))
        named = {_each(mention.letters) for mention in mentions if mention.said in ("right", "named")}
        if len(named) == 1:
            letter = named.pop()
            predicate = _PREDICATE.search(clause)
            is_asked = predicate is not None and predicate[1] in question
            shared[letter] = max(shared.get(letter, 0), len(asked & echo(clause)) + is_asked * len(asked))
    best = [letter for letter, count in shared.items() if count == max(shared.values())]
    if len(shared) > 1 and len(best) == len(shared) and best[-1] in _BUT.split(text)[-1] != text:
        best = best[-1:]
    return best[0] if len(best) == 1 and len(best[0]) == 1 else None


def _clauses(sentence: str, options: str) -> list[str]:
    """Return the clauses of a sentence, each with those after it that deny nothing and name no option: `D fell, which began the war`."""
    clauses: list[str] = []
    for clause in CLAUSE.split(sentence):
        if not clauses or re.search(_ITEM.format(options=options), clause):
            clauses.append(clause)
        elif not negations(clause):
            clauses[-1] += f", {clause}"
    return clauses


def claimed_by_text(reply: str, letters: str, texts: Mapping[str, str], question: str) -> str | None:
    """Return the one option that a reply claims by its text: alone at the start, in its conclusion, or in the words of the question.

    >>> texts = {"A": "shark", "B": "dolphin"}
    >>> claimed_by_text("A shark is a fish. Therefore, the dolphin is.", "AB", texts, "Which is a mammal?")
    'B'
    """
    sentences = [with_letters(sentence, texts) for sentence in split(corrected(reply[-_LONGEST:]))]
    concluding = [sentence for sentence in sentences if CONCLUDES.match(sentence)]
    group = _group(letters)
    first = _alone(_IT_IS.sub("", sentences[0]), group) if sentences else None
    if first and not concluding:
        return first if len(first) == 1 else None
    wrong_wanted = asks_for_wrong(question)
    mentions = _mentions(concluding[-1], letters, wrong_wanted=wrong_wanted) if concluding else []
    named = {_each(mention.letters) for mention in mentions if mention.said in ("right", "named")}
    if len(named) == 1 and len(letter := named.pop()) == 1:
        return letter
    return nearest_option("\n".join(sentences), letters, question)


def letter_groups(text: str, options: str = "ABCDEFGH") -> list[str]:
    """Return every group of option letters in a text, wherever it is."""
    return [_each(match[0]) for match in re.finditer(_group(options), text) if not _is_article(text, match)]


def _group(options: str) -> str:
    return rf"(?<![A-Za-z\\])[{options}]+{_EDGE}(?:(?:{_BETWEEN})[{options}]+{_EDGE})*"


def _alone(text: str, group: str) -> str | None:
    """Return the letters of a text that holds nothing else but brackets, marks and a full stop, small ones too; '' for `A or B`."""
    if len(text) > 200:
        return None
    text = " ".join(text.upper().split())
    text = re.sub(r"\)\s?\(", ",", text)  # (B)(D)
    text = re.sub(r"[\"“”']\s?,\s?[\"“”']|\s-\s", ",", text)  # ["A", "C"], - A - C
    match = re.fullmatch(
        rf"(?:OPTIONS?\s|CHOICES?\s|BOTH\s|选项)?[\s*_`\"'“”(\[【{{<-]*({group})[\s*_`\"'“”)\]】}}>.。,;!]*(?:选?项)?",
        text,
    )
    return None if match is None else "" if _OR.search(match[1]) else _each(match[1])


def _after_mark(text: str, group: str) -> str | None:
    found = None
    for match in re.finditer(rf"{_MARK}{_LINK}({group})", text):
        if not _is_article(text, match, 1) and not _DOUBTED.search(text[max(0, match.start() - 80) : match.start()]):
            found = match[1]
    if found is None:
        small: list[str] = re.findall(rf"{_MARK}{_LINK}({group.lower()})[)\]】}}*_`\"'”]*[.。,;]?\s*(?:\n|$)", text)
        found = small[-1] if small else None
    return None if found is None else "" if _OR.search(found) else _each(found.upper())


def _only(text: str, group: str) -> str | None:
    """Return the one group of letters that stands alone in a text; different ones are no answer."""
    choices = {
        _each(match[0])
        for match in re.finditer(group, text)
        if not _is_article(text, match)
        and _BEFORE.search(text[max(0, match.start() - 20) : match.start()])
        and _AFTER.match(text[match.end() : match.end() + 20])
        and not _NAMED.search(text[max(0, match.start() - 20) : match.start()])
        and (not (match[0].isascii() and match[0].isalpha()) or _in_order(match[0]))
    }
    return (
        choices.pop()
        if len(choices) == 1 and not any(_OR.search(match[0]) for match in re.finditer(group, text))
        else None
    )


def _in_order(found: str) -> bool:
    """As options are listed, and most words in capitals are not: `ABD`, but not `BAD`."""
    return list(found) == sorted(set(found))


def _is_article(text: str, match: re.Match[str], group: int = 0) -> bool:
    """True for the English word, as in `A dog` and `I am`; a capital A within a sentence is an option: `only A fits`."""
    behind = text[match.end(group) : match.end(group) + 9]
    inside = match[group] == "A" and _WITHIN.search(text[: match.start(group)][-12:]) is not None
    return match[group] in ("A", "I") and not inside and bool(_WORD.match(behind)) and not _VERB.match(behind)


def _each(found: str) -> str:
    listed = re.sub(r"\b(?:AND|OR|(?:OPTION|CHOICE|STATEMENT)S?)\b", " ", found.upper())
    return "".join(dict.fromkeys(sign for sign in listed if sign.isalpha() and sign.isascii()))
