"""Reword roundabout replies about options: `all but B are wrong` as what is right, `so is C` as a verdict on C, and what holds only on a condition as nothing."""

import re

from proctor_judging.matching.patterns import compile_later
from proctor_judging.matching.question_words import interrogative

OUT = (
    r"(?:can be |could be |must be |are |is |were )?(?:all )?(?:eliminated|ruled out|dismissed|excluded|rejected|discarded|wrong|false|incorrect|untrue|flawed)\b"
    r"|(?:fail|have (?:flaws|errors|problems))\b"
)
ALL_BUT_ARE_OUT = compile_later(
    rf"\b(?:all|every\w*|each)\b[^.;,]{{0,30}}?\b(?:but|except(?: for)?|apart from|other than)\s(?:option )?([A-H])\b[^.;A-H]{{0,20}}?\s(?:{OUT})",
    re.IGNORECASE,
)
HAN_ALL_BUT_ARE_OUT = compile_later(
    r"除了?\s?([A-H])项?(?:以外|之外|外)?[，,]?(?:其[他余它])?[^，。A-H]{0,6}(?:都|均|全)[^，。A-H]{0,4}(?:错|不对|不正确|有误|排除)"
)
EVERYTHING_BUT = compile_later(
    r"^\W*(?:everything|all) (?:but|except|apart from|other than) ([A-H](?: and [A-H])?)\W*$", re.IGNORECASE
)
JUDGED_LINE = compile_later(
    r"^\W{0,6}(?:option |statement |选项)?(?P<letter>[A-H])\W{0,3}[.:)、：](?:(?!\b[A-H]\s?[.:)、：])[^\n]){1,400}?[.。,，;；:：–—-]\W{0,4}(?:this is |that is |it is |所以|因此|故|该项)?(?P<said>correct|incorrect|true|false|right|wrong|正确|错误)\W*$",
    re.IGNORECASE | re.MULTILINE,
)
ALL_BUT = compile_later(
    r"\b(all|every\w*|each)((?: \w+)?) but (?=(?:option )?[A-H]\b[^.;]{0,20}\b(?:is|are)\b)", re.IGNORECASE
)
SO_IS = compile_later(
    r"\b(?P<verb>is|are) (?P<said>true|correct|right|false|wrong)(?P<rest>[^.;\n]{0,30}?) (?:and |but )?so (?:is|are) (?P<letters>[A-H](?: and [A-H])?)\b"
)
IF_IT_WERE = compile_later(r"\bif [^,;.]{1,60}, [A-H] would [^,;.]{1,30}[,;.]", re.IGNORECASE)
LETTER = compile_later(r"(?<![A-Za-z'’])[A-H](?![A-Za-z'’])")
EITHER_CASE = compile_later(
    r"\b[A-H],?\s(?:unless|except (?:if|when)|only if|if|when)\b[^.;\n]{1,80}?,?\s(?:in (?:which|that) case|otherwise|or else|else)\b[^.\n]*"
    r"|[A-H][，,](?:除非|如果|若)[^。；\n]{1,60}[，,](?:那|则|否则|不然)[^。\n]*|(?:如果|若)[^。；\n]{1,40}[，,]?[是选为则就]{1,3}\s?[A-H][，,；;](?:否则|不然)[^。\n]*",
    re.IGNORECASE,
)  # an answer for each of two cases
COUNTERFACTUAL = compile_later(
    r"\b(?:would|['’]d)\s(?:\w+\s){0,3}[A-H],?\s(?:if|had)\s(?!i\s(?:had\sto|were\s(?:forced|pressed|to)|must))[^.;\n]{0,40}?\b(?:were|was|had|did|could)(?:n['’]t|\snot)\b[^.;\n]*",
    re.IGNORECASE,
)
NEXT_TO = compile_later(
    r"\bthe (?:one|option|choice|letter|answer) (?:\w+ )?(?:after|before|following|above|below|next to|opposite) [A-H]\b",
    re.IGNORECASE,
)
FORMERLY = compile_later(
    r"\b(?:was|used to be|had been) [A-H]\b[^.;,\n]{0,20}\b(?:until|till|before|up to)\b[^.;,\n]{0,30}(?=[^.\n]{0,60}\b(?:since|now|today|then|after)\b)"
    r"|(?:第一版|初版|旧版|早先|原先|以前)[^，。A-H]{0,8}[是为]\s?[A-H](?=[，,；;][^。A-H]{0,10}(?:改|更正|订正)[成为])",
    re.IGNORECASE,
)
ASKED_BEFORE = compile_later(
    r"\b(?:was|were|did|until|before|formerly|former|used)\b|第一版|初版|旧版|早先|原先|以前|当时", re.IGNORECASE
)
NO_FAULT = compile_later(r"(?:没有?|无)(?:任何|什么)?(?:语病|毛病|错误|错|问题|瑕疵|误)(?!的)")
THE_OTHERS_HAVE = compile_later(
    r"都?有(?:语病|毛病|错误|问题|瑕疵)[，,；;]?(?:而|只有|唯有)?([A-H])(?:项)?(?:却|则)?没有(?=[，。；]|$)"
)
AT_THE_END = compile_later(r"[—–]\s?\(?([A-H])\)?[\s.。]*$")
ASKED_QUALITY = compile_later(r"([\u3400-\u9fff]{3,16}的)(?:一[项组个])?(?:是|为)\s?(?=[A-H])")
THE_ONE = compile_later(
    r"\bthe (?:only )?(?:one|option|exception|odd one out|[a-z]+)(?:,)? (?:that|which|who)(?P<denied>\s(?:(?:is|does|are|do|was|has|can)(?:n['’]t| not)|cannot|can['’]t|never)\b)?"
    r"[^.;,\n]{0,60}? (?:is|would be|must be)\W{1,4}(?=[A-H]\b)",
    re.IGNORECASE,
)
RUNNER_UP = compile_later(r"(?P<first>最[^。；\n]{0,40}?)[，,]\s?其次(?:是|为)?\s?[A-H](?![A-Za-z])项?")
WHILE_ONLY = compile_later(
    r",?\s(?:while|whereas)\s(?:option )?[A-H]\s[a-z]{2,12}(?:\s(?:up|for))?\s(?:only|just|merely)\b[^.;\n]*"
)
SECOND = compile_later(r"第[二三四五]|其次|次[大高长多]|\b(?:second|third|next)\b", re.IGNORECASE)
DENIES = compile_later(r"[不没无未非]")
LEAST = compile_later(r"\b(?:least|smallest|lowest|fewest|shortest|slowest|only)\b|最[小少低短慢]", re.IGNORECASE)
ASKED_THING = compile_later(r"\b(?:which|what) ([a-z]{4,20})\b", re.IGNORECASE)


def plain_wording(text: str, question: str, *, wrong_wanted: bool) -> str:
    """Return a reply with roundabout words about options replaced by plain ones.

    >>> plain_wording("All but B can be ruled out.", "Which is right?", wrong_wanted=False)
    'The answer is B.'
    >>> plain_wording("B is true and so is D.", "Which are true?", wrong_wanted=False)
    'B is true and D is true.'
    """
    if not wrong_wanted:
        text = ALL_BUT_ARE_OUT.sub(r"The answer is \1", text)
        text = HAN_ALL_BUT_ARE_OUT.sub(r"答案是\1", text)
    text = THE_ONE.sub(lambda said: "the answer is " if bool(said["denied"]) == wrong_wanted else said[0], text)
    text = ASKED_QUALITY.sub(lambda said: _chooses(said, interrogative(question)), text)
    text = text if SECOND.search(question) else RUNNER_UP.sub(r"\g<first>", text)
    text = text if LEAST.search(question) else WHILE_ONLY.sub("", text)
    text = JUDGED_LINE.sub(lambda line: f"{line['letter']} is {line['said']}.", text)
    text = ALL_BUT.sub(r"\1\2 except ", text)
    text = EVERYTHING_BUT.sub(r"All except \1 are correct", text)
    text = SO_IS.sub(r"\g<verb> \g<said>\g<rest> and \g<letters> is \g<said>", text)
    text = without_conditions(text, question)
    text = NO_FAULT.sub("正确", THE_OTHERS_HAVE.sub(r"都错误，\1正确", text))
    text = AT_THE_END.sub(r": the answer is \1", text)
    thing = ASKED_THING.search(interrogative(question))
    if thing is not None:
        text = re.sub(rf"(?i:\b{re.escape(thing[1])}) (?=[A-H]\b)", "option ", text)
    return text


def without_conditions(text: str, question: str) -> str:
    """Return a reply without what it says of an option on a condition, of another time, or only to point from it to another.

    >>> without_conditions("A, unless you count suburbs, in which case B.", "Which is right?").strip(" .")
    ''
    >>> without_conditions("It was A until 1870, and is B now.", "What is the capital?")
    'It  , and is B now.'
    """
    for unsaid in (IF_IT_WERE, EITHER_CASE, COUNTERFACTUAL, NEXT_TO):
        text = unsaid.sub(" ", text)
    return text if ASKED_BEFORE.search(question) else FORMERLY.sub(" ", text)


def letters_on_condition(text: str) -> list[str]:
    """Return the options that a reply may choose: one for each of two cases, or the neighbours of an option that it only points from.

    >>> letters_on_condition("A, unless you count suburbs, in which case B."), letters_on_condition("The one after B."), letters_on_condition("B.")
    (['A', 'B'], ['A', 'C'], [])
    """
    cases = "".join(said[0] for said in EITHER_CASE.finditer(text))
    letters = [*LETTER.findall(cases)]
    for said in NEXT_TO.finditer(text):
        letters += [chr(ord(said[0][-1].upper()) + step) for step in (-1, 1)]
    return sorted({letter for letter in letters if letter.isalpha()})


def _chooses(said: re.Match[str], asked: str) -> str:
    """Return plain words for the quality that a reply ascribes to an option: chosen where the question asks for it, not where for the opposite.

    >>> asked = "下列没有错别字的是"
    >>> [_chooses(ASKED_QUALITY.match(f"{quality}是B"), asked) for quality in ("没有错别字的", "有错别字的", "最常见的")]
    ['答案是', '不选', '最常见的是']
    """
    quality = said[1]
    positions = ((start, asked.find(quality[start:])) for start in range(len(quality) - 3))
    rest = next(((quality[:start], asked[:at]) for start, at in positions if at >= 0), None)
    if rest is None:
        return said[0]
    is_denied, is_asked_denied = (DENIES.search(before[-2:]) is not None for before in rest)
    return "答案是" if is_denied == is_asked_denied else "不选"
