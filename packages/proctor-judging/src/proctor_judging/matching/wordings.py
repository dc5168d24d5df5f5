"""List the wordings of an English phrase that mean the same in answer to a question: `bats` and `bat`, `to Turin` and `Turin`, `port 22` and `22`."""

import re

from proctor_judging.matching.number_words import with_digits
from proctor_judging.matching.patterns import compile_later
from proctor_judging.matching.question_words import echo, stem
from proctor_judging.matching.text import tidy

LONGEST = 80
MOST_WORDS = 3
MOST_PREPOSITIONS = 2  # from Paris is not to Paris
ARTICLE = compile_later(r"^(?:the|an?|some) (?=\S)", re.IGNORECASE)
PREPOSITION = compile_later(
    r"^(?:to|at|in|on|from|by|with|for|of|because of|due to|because|using|that|it(?:['’]s| is| was)) (?=[^\W\d])|^(?:at|on) (?=\d)",
    re.IGNORECASE,
)
PLACE_LEFT = compile_later(r"(?:from|without) ", re.IGNORECASE)
NAME = compile_later(r"[A-Z][a-z]+")
ABOUT_WORDS = compile_later(
    r"\b(?:plural|singular|spell\w*|tense|participle|gramma\w*|conjugat\w*|preposition|article|rhym\w*|letters?|word form|translat\w*)\b",
    re.IGNORECASE,
)
PLURALS = (
    (compile_later(r"(?<=[a-z]{2})ies$"), "y"),
    (compile_later(r"(?<=bacteri)(?:a|um)$|(?:(?<=criteri)|(?<=mitochondri)|(?<=phenomen))(?:a|on)$"), ""),
    (compile_later(r"(?<=[a-z](?:ch|sh|ss))es$|(?<=[a-z]x)es$"), ""),
    (compile_later(r"(?<=[a-z]{2}[^\Wsui])s$"), ""),
)
ANOTHER_THING = frozenset(("arms", "customs", "glasses", "goods", "manners", "spirits", "works"))  # than the singular
NTH = "first second third fourth fifth sixth seventh eighth ninth tenth", "i ii iii iv v vi vii viii ix x"
ORDINALS = {word: str(number) for words in NTH for number, word in enumerate(words.split(), 1)}
ORDINALS |= {"one": "1", "two": "2", "three": "3", "four": "4"}
ORDINAL_FIRST = compile_later(r"^(first|second|third|fourth) (\D{3,})$")
ORDINAL_LAST = compile_later(
    rf"^(\D{{3,}}?) ((?:the )?(?:{'|'.join(NTH[0].split())})|[ivx]{{1,4}}|one|two|three|four|[1-9])$"
)
CODE = compile_later(
    r"(?=.*[/.(=])(?P<path>(?:[\w@.-]*/)*)(?P<owner>(?:[\w-]+\.)*)(?P<name>[^\W\d]@?[\w.@-]+?|@[\w-]+)(?P<more>\([^()]*\)|=\S*)?"
)
IN_CODE = compile_later(r"(?<=\b[A-Z]{2})[ -](?=\d)")  # KL 601
PLACED_IN = compile_later(r",? (?:in|at) (?=[A-Z])")
PART_OF = compile_later(r"([a-z][a-z -]{1,40}) of (?:the |an? )?((?:(?! of )[^,;]){2,60})")
PLACED_ON = compile_later(r"^([a-z]+) (?:of|on|in|at) (?:the |an? )?([a-z]+)(?= (?:is|are|was|were|has|have|had) )")
IS_SO = compile_later(r"([\w' -]{2,60}?) (?:is|are|was|were|(?:has|have|had) been) ([a-z]{3,20})")
GLOSS = compile_later(r"(?<=[^\W\d]{2}) \([^()]{2,60}\)$")
CLOCK = compile_later(r"(?: at)?(?:(?<=\w) |\b)(\d{1,2}):(\d\d)(?:\s?([ap])\.?m\b\.?)?", re.IGNORECASE)
SCALE = compile_later(r"\b(?:celsius|centigrade|fahrenheit|kelvin)\b|°[CF]\b", re.IGNORECASE)
IN_DEGREES = compile_later(
    r"([-−]?\d[\d.,]*)\s?(?:(?:°|degrees?|deg)\s?)?(celsius|centigrade|fahrenheit|kelvins?|[CFK])?", re.IGNORECASE
)
SIGN = compile_later(r"(?<=\b[A-Z]) (negative|positive)$|(?<=\b[A-Z]{2}) (negative|positive)$")


ASKS_PLACE = compile_later(r"\b(?:where|city|town|capital|place|venue)\b", re.IGNORECASE)
COUNTRY = compile_later(
    r"(?:the )?(?:Argentina|Australia|Austria|Bangladesh|Belgium|Bolivia|Brazil|Bulgaria|Chile|China|Colombia|Croatia|Cuba|Czech(?:ia| Republic)|Denmark|Ecuador|Egypt|Estonia|Ethiopia|Finland|France|Germany|Ghana|Greece|Hungary|Iceland|India|Indonesia|Iran|Iraq|Ireland|Israel|Italy|Jamaica|Japan|Jordan|Kenya|Latvia|Lebanon|Lithuania|Malaysia|Mexico|Morocco|Nepal|Netherlands|New Zealand|Nigeria|Norway|Pakistan|Peru|Philippines|Poland|Portugal|Romania|Russia|Saudi Arabia|Scotland|Serbia|Slovakia|Slovenia|South Africa|South Korea|Spain|Sweden|Switzerland|Syria|Taiwan|Tanzania|Thailand|Tunisia|Turkey|UAE|Ukraine|United Kingdom|England|Uruguay|Venezuela|Vietnam|Wales)"
)


def same_wording(given: str, target: str, question: str) -> bool:
    """True if two phrases are wordings of one answer to a question.

    >>> same_wording("Bats", "bat", "Which mammal can fly?"), same_wording("mice", "mouse", "What is the plural of mouse?")
    (True, False)
    >>> same_wording("the First World War", "World War I", "Which war was it?"), same_wording("O negative", "O-", "Which blood type?")
    (True, True)
    >>> same_wording("to Turin", "from Turin", "Where does it go?"), same_wording("to Turin", "Turin", "Where does it go?")
    (False, True)
    """
    if max(len(given), len(target)) > LONGEST or ABOUT_WORDS.search(question):
        return False
    if any(PLACE_LEFT.match(text) or text.casefold() in ANOTHER_THING for text in (given, target)):
        return False
    if _is_place_with_country(given, target, question) or _is_place_with_country(target, given, question):
        return True
    if _is_name(given) and _is_name(target):
        return given == target
    if _is_name_in_code(given, target) or _is_name_in_code(target, given):
        return True
    prepositions = {match[0].casefold() for match in map(PREPOSITION.match, (given, target)) if match is not None}
    if len(prepositions) >= MOST_PREPOSITIONS:
        return False
    said, shorter_said = _wordings(given, question)
    meant, shorter_meant = _wordings(target, question)
    return bool(said & (meant | shorter_meant) or shorter_said & meant)


def _is_place_with_country(place: str, both: str, question: str) -> bool:
    """True if one text is a place, and the other the same with its country, where a place is asked for: `Rome` and `Rome, Italy`."""
    name, _, country = both.partition(", ")
    return name == place and COUNTRY.fullmatch(country) is not None and ASKS_PLACE.search(question) is not None


def in_asked_degrees(text: str, question: str) -> str:
    """Return an amount without the scale of temperature that the question names; another text unchanged.

    >>> in_asked_degrees("100 degrees", "At how many degrees Celsius?"), in_asked_degrees("212 °F", "How hot in Celsius?")
    ('100', '212 °F')
    """
    scales, amount = SCALE.findall(question), IN_DEGREES.fullmatch(tidy(text))
    if len(scales) != 1 or amount is None:
        return text
    asked = scales[0]
    named = (amount[2] or "").upper()[:1]
    return amount[1] if named in ("", asked.upper().lstrip("°")[:1]) else text


def _wordings(text: str, question: str) -> tuple[frozenset[str], ...]:
    """Return the wordings of a whole text, and of it without a noun that the question has."""
    text = ARTICLE.sub("", PREPOSITION.sub("", SIGN.sub(_signed, tidy(text))))
    text = CLOCK.sub(_on_clock, GLOSS.sub("", PLACED_IN.sub(", ", IN_CODE.sub("", text))))
    text = PLACED_ON.sub(r"\2's \1", text)  # the disk on the runner was full
    stems = echo(question)
    shorter = []
    if (of := PART_OF.fullmatch(text)) is not None:
        text = f"{of[2]}'s {of[1]}"  # the gravity of the Moon
        shorter = [of[2]] * (f"which {of[1]} " in question.lower())  # the sense of smell
    words = text.split(" ")
    wordings = [text, with_digits(text)]
    if (said := IS_SO.fullmatch(text)) is not None:
        wordings += [f"{said[2]} {said[1]}", f"{said[1]} {said[2]}"]  # a certificate is missing
    if len(words) > 1 and (stem(words[-1]) in stems if words[-1].islower() else _is_asked(words[-1], question)):
        shorter.append(" ".join(words[:-1]))
    if 1 < len(words) <= MOST_WORDS and stem(words[-2]) in stems and any(map(str.isdigit, words[-1])):
        shorter.append(words[-1])
    if words[1:] and words[-1][:1].isupper() and _is_asked(words[0], question):
        shorter.append(
            " ".join(words[1:]).removeprefix("of ").removeprefix("the ")
        )  # Lake Victoria, Strait of Gibraltar
    return tuple(
        frozenset(_ordered(_singular(ARTICLE.sub("", each))) for each in texts) for texts in (wordings, shorter)
    )


def _is_asked(word: str, question: str) -> bool:
    """True of a capitalised word that a question has as a common noun: the Kalahari Desert, asked which desert it is."""
    return word[:1].isupper() and re.search(rf"\b{re.escape(word.lower())}\b", question) is not None


def _is_name_in_code(code: str, name: str) -> bool:
    """True if a name is the file of a path, the function of a call, the variable that is set: `append` of `list.append(x)`."""
    match = CODE.fullmatch(tidy(code))
    if match is None:
        return False
    whole, plain = f"{match['owner']}{match['name']}", tidy(name).removesuffix("()")
    is_call = (match["more"] or "")[:1] == "(" or match["name"][:1].isupper()
    return plain == whole or (is_call and plain == match["name"])


def _on_clock(match: re.Match[str]) -> str:
    """Return a time of day as `09:30`; `9:30 PM` as `21:30`."""
    hour = int(match[1]) % 12 + 12 * (match[3].lower() == "p") if match[3] else int(match[1])
    return f"{' ' * (match.start() > 0)}{hour:02}:{match[2]}"


def _is_name(text: str) -> bool:
    """True of one capitalised word, whose last letter is no plural: `Adams`."""
    return NAME.fullmatch(text) is not None


def _signed(match: re.Match[str]) -> str:
    return "-" if "negative" in match[0] else "+"


def _singular(text: str) -> str:
    """Return a phrase in the singular, unless its last word is a name."""
    if not text[-1:].islower() or (text.rpartition(" ")[2][:1].isupper() and " " in text):
        return text.casefold() if len(text) > 3 else text
    text = text.casefold()
    for pattern, ending in PLURALS:
        if pattern.search(text):
            return pattern.sub(ending, text)
    return text


def _ordered(text: str) -> str:
    """Return `world war 1` of `first world war` and `world war i`, `henry 8` of `henry the eighth`."""
    if (first := ORDINAL_FIRST.match(text)) is not None:
        return f"{first[2]} {ORDINALS[first[1]]}"
    last = ORDINAL_LAST.match(text)
    if last is None:
        return text
    number = last[2].removeprefix("the ")
    return f"{last[1]} {ORDINALS.get(number, number)}"
