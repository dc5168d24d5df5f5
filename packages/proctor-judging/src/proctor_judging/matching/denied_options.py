"""Find the options that a reply denies, and those at which it only guesses: `The answer can't be B`, `C is out`, `不可能选B`, `可能是B`.

An option is denied when its clause holds a negation before it, or calls it wrong after it. A question that asks for the
wrong statement turns the second rule around: there, `B is false` chooses B.
"""

import re
from collections.abc import Iterable
from typing import Literal

import msgspec

from proctor_judging.matching.patterns import compile_later
from proctor_judging.matching.question_words import interrogative

LONGEST_CLAUSE = 120  # characters of a clause on either side of an option that are looked at
AUXILIARY = r"(?:do|does|did|is|are|was|were|ca|can|wo|would|should|could|must|might|may|need|ought|sha|shall|has|have|had|ai|dare|will)"
BOUNDARY = compile_later(
    r"[,;:!?，。；：！？\n()（）—]|\.(?=\s|$)|(?<!\w)-(?!\w)|\b(?:(?<!anything )(?<!everything )(?<!all )(?<!nothing )(?<!option )(?<!choice )but|yet|so|thus|hence|therefore|because|since|as|while|whereas|although|though|however|which|given|and|leav(?:es|ing))\b"
    r"|而是|而且|但是?|所以|因此|因为|故|由于|其余|(?<!不)应[当该]?[是选为]",
    re.IGNORECASE,
)
NEGATION = compile_later(
    rf"\b(?:not|never|neither|nor|nobody|no one|none|cannot|{AUXILIARY}n'?t|unlikely|hardly|barely|scarcely|impossible|implausible|improbable|no (?:way|chance|longer|possibility|reason)|"
    r"doubt(?:s|ed|ful)?|far from|anything but|by no means|in no way|under no circumstances|on no account|reject(?:s|ed|ing)?|dismiss(?:ed|ing)?|discard(?:ed|ing)?|"
    r"rul(?:e|es|ed|ing) (?:out|\w+ out)|exclud(?:e|es|ed|ing)|eliminat(?:e|es|ed|ing)|discount(?:ed|ing)?|cross(?:ed|ing)? (?:out|off)|strik(?:e|ing) (?:out|off)|"
    r"except(?:ing)?|besides|apart from|aside from|other than|rather than|instead of|refus(?:e|es|ed)|avoid(?:ed|ing)?|mistake|whether|if|unless|tempt(?:ed|ing)|"
    r"(?:at first|first|initially|originally|once|previously)(?= (?:i|we|thought|considered|guessed|picked|chose|leaned))|thought (?:of|about)|(?:was|were) (?:leaning|inclined|drawn|torn)|toyed with|(?:you|one|some|many|most)(?: (?:people|students|might|may|could|would)){0,2} (?:think|say|pick|choose|believe|expect|assume|be tempted)|"
    r"(?:students?|people|classmates?|friends?|others|colleagues?|some(?:one|body)|everyone|they|he|she)(?: \w+)? (?:choose|chose|pick|picked|select|selected|say|says|said|think|thinks|thought|go|goes|went)|between|at first (?:glance|sight)|compare|consider|examine|evaluate|discuss|look(?:ing)? at)\b"
    r"|不(?![难仅但]|如[选说])|(?<!出)没|并非|绝非|而非|[勿莫别未](?=[选是必会能])|排除|(?<![开整])除了?(?!法|以)|剔除|淘汰|[去划]掉|舍弃|否定|难以|难道|怎么(?:会|可能)|岂|哪[能会里]|[误错]选|最初|起初|一开始|乍一?看|本来|想过|原以为|原本|与其|如果|假如|若[选是]|假设|(?:同学|有人|别人|学生)[^，。]{0,4}选",
    re.IGNORECASE,
)
AFFIRMED = compile_later(  # a negation that affirms
    r"\b(?:there(?:'s| is| can be) )?(?:no|without(?: a| any)?|beyond(?: a| any| all)?) (?:reasonable )?(?:doubts?|question)\b(?: that| about it)?"
    r"|\b(?:nothing|none|no one|no other)(?: \w+){0,2} (?:but|other than|except|fits better than|better than)\b|\bno (?:choice|option|alternative) (?:but|other than)\b"
    r"|\b(?:cannot|can't|couldn't|could not) (?:be )?(?:go wrong with|doubt|deny|anything (?:but|other than|except))\b|\b(?:do not|don't) (?:doubt|hesitate)\b|\bnot only\b"
    r"|毫无疑[问义]|毋庸置疑|无疑|无非|不得不|不外乎|没错|不错|没有?问题|不仅|不妨|非(?=[A-Z]项?莫属)|莫属",
    re.IGNORECASE,
)
BESIDE = compile_later(  # negations of the option that follows directly, after another one in the same clause
    r"(?:\b(?:not|never|nor|rather than|instead of|over|than|excluding)\s(?:the |option |choice |answer )*|不(?:应该?|能|会|要|该|可能)?[选是为]?(?:选?项)?|而非|除了?|非)\s?$",
    re.IGNORECASE,
)
WRONG = (
    r"(?:wrong|incorrect|false|untrue|inaccurate|invalid|mistaken|a mistake|irrelevant|unsupported|unrelated|impossible|implausible|unlikely|(?:a |the )?(?:distractor|trap|decoy)|"
    r"too \w+|out(?: of the question)?|(?:ruled|crossed) out|rejected|excluded|eliminated|discarded|dismissed|contradicted|flawed|misleading|weak|(?:the )?(?:weakest|worst|least \w+)|poor|problematic|questionable|unconvincing|insufficient|off|nonsense|absurd|one (?:possibility|option|candidate))\b"
)
WRONG_AFTER = compile_later(
    r"[\"'”’*_`)\]】}》]*\s*(?:(?:option|choice|statement|answer)s?\s)?(?:"
    rf"(?:(?:\w+ly|also|both|all|then|simply|just)\s)*(?:{AUXILIARY}n't|(?:{AUXILIARY}|seems?|looks?|sounds?|appears?)\s(?:to\s)?(?:\w+ly\s)?(?:not|never|hardly|no longer|nowhere)|cannot|never|neither)\b(?! only)"
    r"|(?:\w+ly\s)?(?:fails?|failed|contradicts?|conflicts?|miss(?:es)?|misstates?|misreads?|exaggerates?|overstates?|lacks?|ignores?|confuses?|reverses?|violates?|overlooks?)\b"
    r"|is\sthe\sonly\sone\s(?:with|that\shas)\s(?:an?\s)?(?:\w+\s)?(?:errors?|mistakes?|flaws?|faults?|dangling|problems?)\b"
    r"|(?:could|might|may)\s(?:also\s)?(?:be|work)\b|would(?:'ve|\shave)\b|(?:seems?|looks?|sounds?|appears?|is)\s[^,.;\n]{0,40},?\s(?:but|yet)\b|(?:is|are)\sthe\s[^,.;\n]{0,40}\b(?:exclude|eliminate|rule\sout|reject|drop)"
    r"|(?:can|must|should)\s(?:both\s|all\s)?be\s(?:ruled\sout|eliminated|excluded|rejected|discarded|dismissed)|(?:[.:=(（–—-]|->?|→|=>)\s*(?:wrong|incorrect|false|not\b|no\b)|[:：]?\s?[✗✘×❌]"
    r"|(?:选?项)?应(?:当|该)?(?:为|作|写作|改为)\s?[\"“”「]"
    r"|(?:选?项|[两三四]项|[两三四]个)?(?:选项|是|的说法|的?表述|说法|描述|表述|内容|明显|显然|肯定|一定|都|均|也|为|并|则|可以|可|应该?|就|全){0,4}(?:[印写抄填判记看]?错|[不没未无](?!仅|疑|错|妨|难看|得不)|否|[.:、)]\s*(?:错|不)|排除)"
    r"|[^A-Z,，。;；.\n]{0,40}[,，]\s?(?:which (?:is|makes it) |so (?:it is|it's) |but (?:is|it is|it's) |(?:显然|明显|所以|因此|故|后来发现|应当?|该项?|说法|可|则|就|都){0,3}\s?)"
    r"(?:但[^A-Z,，。;；.\n]{0,16}?(?:无关|不符|矛盾|相反|排除|不全)|wrong|incorrect|false|是?[印写抄填标打弄看记]错|错|不[对选正符当成](?!\s?[A-Z])|有误|排除(?!\s?[A-Z])|(?:ruled|crossed) out))",
    re.IGNORECASE,
)  # the last: D项氢气含量极少,显然不对
WRONG_WITHIN = compile_later(
    rf"(?:^|\b(?:is|are|was|were|be|being|seems?|looks?|sounds?|as)\s)\s*(?:\w+ly\s|also\s|both\s|all\s|a bit\s|just\s){{0,2}}{WRONG}"
    r"|错误|不[对选符当妥]|不正确|有误|残缺|杂糅|歧义|语病|都有道理|难以取舍|不可能|不成立|不合|不能(?!再)|无关|矛盾|相[反悖违]|冲突|背离|欠妥|片面|牵强|偏题|离题|不足|不全面|排除|都可[以能]|都行|有可能|张冠李戴|偷换概念|以偏概全|无中生有|曲解|过于绝对|绝对化|因果倒置|强加因果|混淆|夸大|断章取义|主观臆断|于文无据|没有依据|未提及|言过其实",
    re.IGNORECASE,
)
RIGHT_AFTER = compile_later(
    r"[\"'”’*_`)\]】}》]*\s*(?:the\s(?:right|correct|best)\s(?:answer|option|choice)\b|(?:[.:、(（–—-]\s*)?(?:right|correct|true|yes|正确|对)(?=\W*(?:$|[\n(\[A-Z.,;，。；]))|(?:-|->|→|=>?)\s*(?:yes|right|correct|true)\b|[:：]?\s?[✓✔√☑✅]"
    r"|(?:(?:is|are|was|were|must be|should be|has to be|seems)\s(?:(?:both|all|also|indeed|\w+ly)\s)?(?:correct|right|true\b|valid|the\s(?:\w+\s)?(?:answer|option|choice|one\b)|supported)|(?:holds?(?: true| up)?|fits?)(?=\W*(?:$|[\n.,;，。；])|\s(?:best|because|since|as|well|all)\b))"
    r"|(?:选?项|[两三四]项|[两三四]个)?(?:选项|是|的说法|的?表述|说法|描述|表述|都|均|也|为|全|无疑|才|显然)*(?:正确|成立|对的?(?![比应于])|符合|当选))",
    re.IGNORECASE,
)
GUESS = compile_later(
    r"\b(?:may(?:be| be)|might(?: be)?|could be|perhaps|possibly|probably|(?<!would )(?<!would most )(?:most |very |quite )?(?<!would most )likely|guess(?:ing)?|not (?:quite |entirely |really )?(?:sure|certain)|unsure)\b|可能(?!性)|也许|或许|大概|兴许|说不定|猜|不太?确定|不敢肯定",
    re.IGNORECASE,
)
LISTED_WRONG = compile_later(
    r"(?:\b(?:incorrect|wrong|false|untrue|eliminated|rejected|excluded)(?:\s\w+){0,2}|错误[^，。]{0,3}|不正确[^，。]{0,3})\s?[:：]\s*$",
    re.IGNORECASE,
)
LISTED_RIGHT = compile_later(
    r"(?:(?<!in)(?<!not )\b(?:correct|right|true)(?:\s\w+){0,2}|(?<!不)正确[^，。]{0,3})\s?[:：]\s*$", re.IGNORECASE
)
ANNOUNCED = compile_later(r"\b(?:answer|option|choice)\W*$|(?:答案|选项)\W*$", re.IGNORECASE)
ONLY_IF = compile_later(r"\bwould (?:be|have been)\s(?:\w+\s)?$", re.IGNORECASE)
ASKS_WRONG = compile_later(
    r"(?<!没)有(?:语病|毛病|错误)|\b(?:NOT|EXCEPT|not|n't|incorrect|incorrectly|false|wrong|untrue|inaccurate|cannot|least|never|odd one)\b|错误|不正确|不对|不属于|不是|不符|有误|不恰当|不当|不能|没有(?!语病|错|歧义|误)|无关|不包括|不合适|不会|不可|不成立|不相符|不妥"
)


OPTION_LIST = compile_later(r"(?:^|\s)[(（]?A[)）.、:：][^\0]{1,1000}?\s[(（]?B[)）.、:：][^\0]*$")  # not what is asked
GUESS_AFTER = compile_later(
    rf"[)\]】*_`\"'.]*\s?[,，(（]?\s?(?:but )?(?:i (?:would |'d )?|i'm |i am )?(?:{GUESS.pattern})", re.IGNORECASE
)
JOINED = compile_later(r"\s*(?:with|to|and|against|or|nor|versus|vs\.?|和|与|跟|及|或)\s*", re.IGNORECASE)


class Mention(msgspec.Struct, frozen=True):
    """The letters of options at one position of a reply, and what is said about them there.

    `start` and `end` include the words that say it.
    """

    letters: str
    start: int
    end: int
    said: Literal["denied", "guessed", "right", "named"]


def asks_for_wrong(question: str) -> bool:
    """Return True if the question asks for the statement that is false, or the thing that does not belong.

    >>> asks_for_wrong("Which of these is NOT a mammal?"), asks_for_wrong("下列说法错误的是"), asks_for_wrong("Which is right?")
    (True, True, False)
    """
    return ASKS_WRONG.search(asked_apart(question)) is not None


def asked_apart(question: str) -> str:
    """Return the clause of a question that asks, without the options it lists."""
    stem = OPTION_LIST.sub("", question)
    return interrogative(stem if stem.strip() else question)


def read_mentions(text: str, items: Iterable[re.Match[str]], *, wrong_wanted: bool) -> list[Mention]:
    """Return what a text says about each of the `items`, its option letters in order of appearance."""
    matches = list(items)
    mentions: list[Mention] = []
    for index, item in enumerate(matches):
        earlier = matches[index - 1].end() if index else 0
        later = matches[index + 1].start() if index + 1 < len(matches) else len(text)
        if mentions and mentions[-1].said != "right" and JOINED.fullmatch(text[earlier : item.start()]):
            mentions.append(Mention(item[0], item.start(), item.end(), mentions[-1].said))
        else:
            mentions.append(_mention(text, item, earlier, later, wrong_wanted=wrong_wanted))
    return mentions


def _mention(text: str, item: re.Match[str], earlier: int, later: int, *, wrong_wanted: bool) -> Mention:
    start, end = item.span()
    before, follows_another = _last_clause(text[max(earlier, start - LONGEST_CLAUSE) : start], earlier > 0)
    plain = AFFIRMED.sub(lambda match: " " * len(match[0]), before)
    after = text[end : end + LONGEST_CLAUSE]
    listed = text[max(earlier, start - LONGEST_CLAUSE) : start]
    right = RIGHT_AFTER.match(after) or (
        None if wrong_wanted and ANNOUNCED.search(listed) else LISTED_RIGHT.search(listed)
    )
    wrong = _wrong(after, later - end)
    wrong_end = wrong.end() if wrong is not None else 0
    if wrong_wanted and (right is not None or wrong is not None):
        right, wrong, wrong_end = wrong, right, right.end() if right is not None else 0
    if LISTED_WRONG.search(listed) is not None or (ONLY_IF.search(before) and re.match(r"\s+if\b", after)):
        return Mention(item[0], start, end, "denied" if not wrong_wanted else "right")
    if (BESIDE if follows_another else NEGATION).search(plain) is not None:
        return Mention(item[0], start - len(before), end, "denied")
    if wrong is not None and (right is None or wrong_end > right.end() or right.string is listed):
        return Mention(item[0], start, end + wrong_end, "denied")
    if GUESS.search(plain) is not None or (right is None and GUESS_AFTER.match(after) is not None):
        return Mention(item[0], start, end, "guessed")
    return Mention(item[0], start, end, "named" if right is None else "right")


def _last_clause(before: str, follows_another: bool) -> tuple[str, bool]:
    """Return the words of an option's own clause before it, and whether another option precedes them in that clause."""
    boundaries = list(BOUNDARY.finditer(before))
    return (before[boundaries[-1].end() :], False) if boundaries else (before, follows_another)


def _wrong(after: str, until: int) -> re.Match[str] | None:
    """Return the words after an option that call it wrong, within its clause or right after the comma that ends it."""
    if (wrong := WRONG_AFTER.match(after)) is not None:
        return wrong
    boundary = BOUNDARY.search(after)
    return WRONG_WITHIN.search(after[: min(until, boundary.start() if boundary is not None else until)])
