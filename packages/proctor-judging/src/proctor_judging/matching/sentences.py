"""Read a reply as sentences: cut them, drop slips, questions and explanations, and say which of them answer."""

import re
from collections.abc import Sequence

from proctor_judging.matching.asked import MEASURES
from proctor_judging.matching.patterns import compile_later
from proctor_judging.matching.question_words import ASKED_KIND, HAN, MOST_CHARACTERS, echo
from proctor_judging.matching.text import negations, tidy

LONGEST = 400  # characters of a sentence that is read
MOST_SENTENCES = 30
LONGEST_FIRST_LINE = 80
ITEM = compile_later(r"\s*(?:[-*•·]|\(?\d{1,2}[.)、])\s*\S")
EXPLANATION = compile_later(
    r"\n\W*(?:explanation|reason(?:ing)?|note|rationale|解析|解释|说明|理由|原因|注)\W{0,4}[:：]", re.IGNORECASE
)
ZONE_OR_DAY = r"(?:Eastern|Central|Pacific|Mountain|UTC|GMT|[A-Z]{2,3}T|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|[A-Z][a-z]+ \d)\b"
SENTENCE_END = compile_later(
    rf"(?:^[A-Za-z]{{1,2}}|(?<=[a-z]\s)[A-Z]|(?<=\d\s)[A-Za-z])\.(?=\s(?:The|It|Its|This|That|In|For|A|An|As|So|You|They|Therefore|Thus|Hence)\b)|(?:(?<![.\s][A-Za-z])(?<!^[A-Za-z])|(?<=\d [ap]\.m)(?=\.\s(?!{ZONE_OR_DAY})[A-Z]))[.!?]+[\"'”’)*]*(?=\s+[^\s=×*+/])|[。！？!?]+[”」）]?(?=[{HAN}A-Z\d\"“*`\x01])|(?<=[的了哦呢呀啊哈啦哟吧嘛])[~～]+(?=[{HAN}])|\n+|[;；]"
)
SHORTENED = compile_later(
    r"\b(?:dr|mr|mrs|ms|st|mt|prof|rev|gen|vs|jr|sr|approx|fig|sec|art|para|ch|vol|pp|e\.g|i\.e|u\.s|(?<![°'’])(?<!\d )(?<!\d)(?<!\d [ap]\.)[a-z])$|^\s*\(?1$|\n\s*\(?\d{1,2}$",
    re.IGNORECASE,
)
MARKUP = compile_later(r"^\s*(?:#{1,6}|>|[-*•]|\d{1,2}[.)])\s+|\*\*|__")
FORMULA = compile_later(r"(?<![A-Za-z\d$])\$(?! )([^$\n]{1,80})(?<![ -])\$(?![A-Za-z\d$])|\\[(\[]([^\n]{1,80}?)\\[)\]]")
QUESTION = compile_later(r"[?？]\W*$|吗\W*$")
OFFER = compile_later(
    r"[^.!?。！？]*\b(?:would you like|do you (?:want|need)|want me to|need (?:help|anything)|anything else|shall i|can i help|is there|curious)\b[^.!?]*\?\W*$|[^.!?。！？,，~～]*(?:还想|还需要|需要我|还有|要不要|想(?:了解|知道)|是否需要|要我)[^.!?。！？]*[?？]\W*$",
    re.IGNORECASE,
)
COURTESY = compile_later(
    r"(?:sure|certainly|of course|great question|let me know|i hope|feel free|hope this|thank|you're welcome|good question|"
    r"here is|here's|okay|ok\b|let me|let's|当然(?!是)|好[的呀嘞]|[你您]好$|同学们好$|很高兴|感谢|祝[您你]|没问题$|这是(?:一?个)?[^，。]{0,6}问题$|希望|如果您|如果你有|请告诉|谢谢|让我)", re.IGNORECASE
)  # fmt: skip
LEAD = compile_later(
    r"(?:(?:without (?:a |any )?(?:question|doubt)|no doubt(?: about it)?|so|therefore|thus|hence|then|finally|overall|in (?:total|conclusion|summary|short)|altogether|and|but|well|yes|"
    r"yeah|indeed|no(?!\sone\b)|right|sure|certainly|of course|as a result|consequently|accordingly|in fact|answer|actually|clearly|okay)\b"
    r"[,:.!]?\s*|i(?:'m| am) (?:confident|sure|certain)(?: that)?\s+|i(?:['’]d (?:say|go with|choose|pick)| would (?:go with|choose|pick)| think| believe| would say| conclude| know| recall| find)"
    r"(?: that)?\s*,?\s+|we (?:can )?(?:get|have|find|see|obtain|conclude|know)(?: that)?\s+(?=\S+\s)|this (?:means|gives)"
    r"(?: that)?\s+|which (?:means|gives)(?: that)?\s+|the answer is that\s+|(?:因此|所以|故此?|综上(?:所述)?|于是|那么|最终|最后|"
    r"总之|即|则|解|答|得到?|可得|我(?:认为|觉得|想|相信)|是的|没错|对的?|不(?=[，,]))[，,：:。]?\s*)",
    re.IGNORECASE,
)
CONCLUDES = compile_later(
    r"\W*(?:(?:so|therefore|thus|hence|in (?:total|conclusion|summary)|altogether|finally|consequently|overall|as a result|"
    r"the (?:final |correct )?(?:answer|result)|my answer)\b|因此|所以|故|综上|总之|最终|答案|答[：:])", re.IGNORECASE
)  # fmt: skip
DERIVED = compile_later(r"(?:.{0,60}[:：,，]\s?)?[A-Za-z]\s?=\s?[^=?]{1,60}")  # the last line of a derivation
CORRECTION = compile_later(
    r"(?:(?<=[.,;!?—…(\-])|(?<=[。，；！？])|(?:^|\n))\s{0,3}(?:(?:oh|hmm|oops|sorry|no|but)[,.!]?\s{1,3}){0,2}"
    r"(?:actually,?\s(?=it|the\b|no\b|that\b|i\b|[A-Z\d])|wait\b[,.!]?|correction\b[:,]?|i mean[,:]?\s|scratch that\b[,.]?|on second "
    r"thoughts?\b,?|let me (?:correct|fix) (?:that|this|myself)[.:,]?|just kidding[,.!]?|i (?:made a mistake|was wrong|misspoke)[.:,]?|my mistake[,.:]?|"
    r"(?:(?:抱歉|对不起|不好意思|哦|噢|啊|哎呀?|呃)[，,]?){0,2}(?:等等|等一下|(?:更正|纠正)(?:一下)?|我?[说搞算弄记写]错了|不对)[，,。：:！!])|(?<=[.,!?])\s{1,3}no[,:]\s(?=it|the|[A-Z\d])"
    r"|(?<=\s[—–-])\s{0,2}(?:nope|no),\s(?:sorry|wait|actually|it['’]s|that['’]s)\b,?\s(?=\S)|(?<=\w\s[—–-])\s{0,2}no,\s(?=[A-Z][\w' ]{1,30}\W*$)|(?<=[.!;—–-])\s{0,3}(?:but\s)?(?:that|this)(?:['’]s| is| was| would be)\s(?:an?\s)?(?:common\s)?"
    r"(?:misconception|mistake|myth|wrong|incorrect|false|not (?:right|correct|true)|what (?:most |many )?people (?:say|think|believe))\b[.,;:—–-]?"
    r"|(?<=[.…,!?—–-])\s{0,2}sorry,\s(?=it|the|an?\s|[A-Z\d])|(?<=[。，！？])不[，,]\s?(?:应该)?(?=是)",
    re.IGNORECASE,
)
SLIP = compile_later(
    r"^(?:(?:(?:no|nope|sorry|apologies|my bad)\b[,.!:]?|that['’]s (?:wrong|not right|incorrect|the (?!answer)[^.]{1,60})\.)\s*[—–-]?\s*(?=\S))+",
    re.IGNORECASE,
)
NOT_SURE = r"not (?:really |very |quite |so |too |at all |all that )?(?:sure|certain)|unsure|no idea|i guess"
DOUBT = compile_later(rf"\b(?:{NOT_SURE})\b", re.IGNORECASE)
GUESS = compile_later(
    r"\b(?:might|(?-i:may) (?!\d)|could (?:be|have|take|cost|reach|mean)|maybe|perhaps|possibly|probably|(?:un)?likely|"
    rf"{NOT_SURE}|guess(?:ing)?|supposedly|allegedly|reportedly|presumably|conceivably|apparently|arguably|i suspect|hard to say|unclear|rumou?red|(?:seems?|appears?) to|cannot (?:decide|tell))\b|"
    r"可能(?!性)|也许|或许|大概(?!(?:在|有|要|需要?|得)?\s?约?[\d一二两三四五六七八九十百千万])|似乎|好像|不确定(?![性度])|猜|拿不[准定]|吃不准|恐怕|据说|听说|据传|传闻|貌似|疑似|估计(?=是|有|为|在)|不太清楚|说不准|没准|兴许|难道|说不定|未必|不是[^，,。；]{1,14}[，,]?那?就是(?!说)", re.IGNORECASE
)  # fmt: skip
ADVERB_OF_A_GUESS = compile_later(
    r"\b(?:maybe|perhaps|possibly|probably|(?:most |very )?likely|i guess)\b,?\s?|也许|或许|大概|可能", re.IGNORECASE
)
OTHERS_SAY = compile_later(
    r"\b(?:said|says?|claim(?:s|ed)?|attribut\w+|thought|thinks|ask(?:s|ed|ing)?|wonder(?:s|ed|ing)?|torn|whether|if|someone|somebody|expect(?:s|ed)|(?<!is )(?<!are )(?<!was )(?<!be )used to|formerly|previously|once(?! (?:a|an|every|per)\b)|doubts?|wrong|"
    r"incorrect|misspell\w*|mistaken(?:ly)?|pretend|suppose|imagine|assum(?:e|ing)|some people|many people|confused|mistake|false|instead of|"
    r"too (?:high|low|big|small|large|few|many|much|long|short)|neither|either|nor|unless|deny|denied|rul(?:e|ed|ing) out|exclud(?:e|ed|ing)|anything but|far from|fails?|failed|hardly|barely|refus(?:e|es|ed) to|declin(?:e|es|ed) to|(?:stopped|ceased)(?= \w+ing)|avoid(?:s|ed)?|(?:almost|nearly) [a-z]+ed)\b|"
    r"是否|曾经|曾是|(?<![所没具])有人|误以为|据称|(?<![可足加])以为|的话|假设|假如|如果|(?<![主只重])要是|错误|排除|除了|除外|以外|而非|怀疑", re.IGNORECASE
)  # fmt: skip
# `Not Rome.`, before what it is
DENIAL = compile_later(
    r"not\s(?!(?:true|correct|right|really|at all)\b)[^.,;]{1,40}|(?:不是|并非)(?!.*的是)[^，,。]{1,20}", re.IGNORECASE
)
NUMBERED = compile_later(r".{0,6}\b(?:no\s+\d|(?:ltd|inc|corp|co)\s+(?-i:[a-z]))", re.IGNORECASE)
FEW_WORDS = compile_later(r"\s*(?:\S+\s*){0,4}(?<![.!])")
NUMBER_OF_ITEM = compile_later(r"\s*\d{1,2}\.")
NOT_TO_BE = compile_later(
    r"[(（](?:not to be \w+ with|not|不是|并非)\s?[^)）]*(?<!sure)(?<!certain)[)）]\s?$", re.IGNORECASE
)
TAKEN_BACK = compile_later(r"\b(?:incorrect|wrong|false|not|no|maybe|perhaps|guess)\b|[?？]|错|不", re.IGNORECASE)
CONDITION = compile_later(r"(?:before|until)\b|if\b.{0,200}\b(?:were|would|had)\b", re.IGNORECASE)
CONTRAST = (
    (
        compile_later(
            r"^(?:many|some|most|people|everyone|others|it is often)[^,.;]{1,160},?\s(?:but|yet|however,?)\s(?:in fact\s|actually\s)?(?=(?:it|the|this)\b)",
            re.IGNORECASE,
        ),
        "",
    ),
    (
        compile_later(
            r"^(?:有人|有些人|很多人|许多人|人们|不少人)[^，,。；]{1,40}[，,](?:但是?)?(?:其实|实际上|事实上)(?=[是为应])"
        ),
        "",
    ),
    (compile_later(r"^not\s[^,.;]{1,40}?(?:,\s(?:but\s)?|\sbut\s)", re.IGNORECASE), ""),
    (compile_later(r"^.{0,80}(?:改|变更|推迟|提前|延期|调整)(?:到|为|成|至)了?"), "是"),
    (compile_later(r"^(?:contrary to|unlike|despite)\s[^,]{1,60},\s", re.IGNORECASE), ""),
    (compile_later(r"n['’]t\s[^,.;]{1,80}?,?\sbut\s(?:rather\s|instead\s)?", re.IGNORECASE), " "),
    (
        compile_later(
            r"\bnot\s[^,.;]{1,80}?(?:,?\sbut|(?:,|\s[—-])\s(?:but\s)?it(?:['’]s|\sis|\swas))\s(?:rather\s|instead\s)?",
            re.IGNORECASE,
        ),
        "",
    ),
    (compile_later(r"(?:并)?(?:不是|并非|非)[^，,。；]{1,40}?(?:[，,]\s?(?:而|却)?是|而是)"), "是"),
    (
        compile_later(
            r"(?:,|\s[-–—]|\s\(|\sand)\s?(?:and\s|but\s)?(?:certainly\s|definitely\s)?not\s[^,.;]{1,80}\)?(?:,\s(?:as|which|although|though|despite)\s.*)?$",
            re.IGNORECASE,
        ),
        "",
    ),
    (compile_later(r",?\s(?:rather than|instead of|as opposed to|unlike)\s[^,.;]{1,80}$", re.IGNORECASE), ""),
    (compile_later(r"[，,(（](?:而|并)?(?:不是|不在|不属于|非)[^，,。；]{1,40}$"), ""),
)
SO = compile_later(
    r",\s(?:so|therefore|thus|hence|which (?:means|gives|yields|makes|leaves)|giving|making|leaving)\s(?!that\b|(?:at|from|for|in|on|by|to|with)\b)|[，,](?:所以|因此|故|最终|最后|综上|但?(?:现在|目前|如今))"
)
HARMLESS = compile_later(
    r"\b[Nn]one other than\b|\b(?:[Pp]erhaps|[Mm]aybe) (?:un)?surprisingly\b|\b[Nn]o (?:prizes for guessing|doubt|wonder|surprise)\b|"
    "[南北]?非洲|非常|未来|未读|未接来?电|未成年|无锡|无线|不锈钢|莫[扎斯尔泊言高愁]|[沉淹埋覆吞湮]没|没[收落]|不列颠|不幸|不得不|无[限穷疑理]|非[凡洲]|不等式|(?<=[部器务码型法辑行统])错误|错误(?=[码信代类处日提])|不同|不断|不久|无数|无论|不[但仅]|否则|非金属|无机|不丹|(?<=导致|造成|致使|使得|引发)[^，,。；]{0,12}?(?:无法|不[能再会]|没有)"
)
TITLE = compile_later(  # words that deny nothing: a quotation, a name
    r"[\"“][^\"”]{1,60}[\"”]|'(?=\w)[^']{1,60}(?<=\w)'(?!\w)|《[^》]{1,40}》|(?<=[a-z] )(?:No|Not|Never|Nothing|None|Nobody|Without|If|Once)(?=(?: [A-Z]| (?:on|a|of|the) [A-Z])\w)"
)
TUPLE = compile_later(r"\((?:[-+\d./√π\\a-z^*]{1,12},\s?)*[-+\d./√π\\a-z^*]{1,12}\)")
FORMERLY = compile_later(r"曾是|曾经|neither|nor\b|once\b|formerly|previously", re.IGNORECASE)
GIVEN = compile_later(
    r"^(?:if|since|because|as|given that)\s[^,]{1,120},\s?(?:then\s)?(?:we (?:can )?(?:get|have|obtain|find|see) (?:that )?)?",
    re.IGNORECASE,
)
EXPLAINED = compile_later(r"(?<=\w[\"'”’)*]):\s(?=[a-z]).*$|(?<=[\w”》]): (?=(?:the|it|this|because|since|as)\b).*$")
ASIDE = compile_later(
    r"\s(?:before|after) [a-z]+ing\s.*|,?\s(?:because|since|when|whereas|while|although|though|even though|given that|so that)\s.*|,\s(?:which|who|whose|where|as|for|followed|ahead|right|just (?:as|like)|unlike|behind|next|specifically|particularly|especially|notably|mainly|primarily|including|such as|arranged|grouped|divided|split|organi[sz]ed)\s.*|"
    r"(?:\s|(?<=[\u3400-\u9fff]))\([^()]{0,200}\)\s?$|[，,](?:因为|由于|虽然|尽管|它|其(?!中)|并且|也就是).*|（[^（）]{0,200}）$", re.IGNORECASE
)  # fmt: skip
INSERTED = compile_later(
    r",\s(?:[^,]|,\d{3}){1,60},(?=\s(?:is|are|was|were|has|had)\b)|,\s(?:who|which|(?:the|an?)(?!\s[^,]{1,60}\b(?:is|are|was|were)\b))\s[^,]{1,60},(?=\s[a-z])|\s\((?:about |approximately )?[-\d][^()]{0,30}\)(?=\s\w)|\s\((?!(?:not|or)\b)[A-Za-z][^()=,;?]{0,60}\)(?=\s\w)|（[^（）不或？]{1,40}）(?=[\u3400-\u9fff])"
)
COPULA = compile_later(
    r"(?:\b(?:is|are|was|were|be|equals?|becomes?|became|remains?|means|called|named|gives|yields|produces|returns|prints|outputs|stands for|(?:amounts|comes|adds? up|sums?(?: up)?|evaluates|simplifies|reduces|refers) to)\b|(?<=[Ii]t|he|at|re|ho)['’]s\b(?=\s)|=(?!=)|≈)\s*[:：]?\s*|"
    r"(?:应该|应当|应|就|正|便)?(?:是(?![由否])|为(?!了)|比喻|形容|意味着|指的是|来自于?|属于|等于|叫做?|叫作|称为|即)[：:]?\s*|(?<![大小多少高低等快慢早晚次优劣])于|(?<=[发生活住长布建存落处])在",
    re.IGNORECASE,
)
TERM = compile_later(r"\d+[a-z]")  # of a formula
COORDINATED = compile_later(  # clauses with a verb of their own
    r",?\s(?:and|but|while|whereas)\s(?=(?:(?:it|he|she|they|this|that|the \w+|[A-Z]\w+)\s)?(?:is|are|was|were|has|had|did|fell|died|lost|won|left|went|took|became|began|sank|made|sold|bought|ran|gave|got|came|\w{2,}ed)\b)|[，,；;](?=[\u3400-\u9fff])",
)
CLAUSE = compile_later(
    r",(?!\d{3})(?!\s[12]\d{3}\b)\s?|[，;；]\s?|(?<!\ball)(?<!none)(?<!thing)\s(?:and|while|whereas|but)\s|而(?=[\u3400-\u9fff])",
    re.IGNORECASE,
)


def statements(reply: str, *, denials: bool = False) -> list[str]:
    """Return the sentences of a reply without questions, slips and explanations; none for a list, as its items are equal.

    Args:
        reply: the reply.
        denials: keep `Not on Sundays.`, which answers a question for yes or no.
    """
    lines = [line for line in reply[-MOST_CHARACTERS:].splitlines() if line.strip()]
    if len(lines) > 1 and all(map(ITEM.match, lines)):
        return []
    text = corrected(reply, denials=denials)
    if (match := EXPLANATION.search(text)) is not None and text[: match.start()].strip():
        text = text[: match.start()]
    said = [sentence for sentence in split(text) if not QUESTION.search(sentence)]
    return said if denials else [sentence for sentence in said if not DENIAL.fullmatch(sentence)] or said


def corrected(reply: str, *, denials: bool = False) -> str:
    """Return what a reply says after it last corrected itself: `Paris. Actually, it's Lyon.` With `denials`, its `no` is kept.

    >>> corrected("Paris. Wait, no, it is Lyon."), corrected("It was 5.")
    ('it is Lyon.', 'It was 5.')
    """
    text = reply.strip()[-MOST_CHARACTERS:]
    for match in reversed(list(CORRECTION.finditer(text))):
        if text[: match.start()].strip() and re.search(r"\w", text[match.end() :]):
            said = SLIP.sub("", text[match.end() :].strip())
            return f"no: {said}" if denials and match[0].strip(" ,:—–-").casefold() == "no" else said
    return text


def split(text: str) -> list[str]:
    """Return the sentences of a text, without list marks and emphasis; initials and `Dr.` end no sentence."""
    parts = pieces(text)
    plain = [tidy(FORMULA.sub(r"\1\2", MARKUP.sub("", part))).strip(" ;；") for part in parts]
    ends = [part.strip(" \n*\"'”’)")[-1:] for part in parts]
    whole = [
        sentence + ("?" if end in ("?", "？") and sentence[-1:] != "?" else "")
        for sentence, end in zip(plain, ends, strict=True)
        if sentence and len(sentence) <= LONGEST
    ]
    return whole if len(whole) <= MOST_SENTENCES else [whole[0], *whole[1 - MOST_SENTENCES :]]


def pieces(text: str) -> list[str]:
    """Cut a text where its sentences end, and change nothing in them."""
    cut, start = [], 0
    for match in SENTENCE_END.finditer(text):
        before = text[max(start, match.start() - 6) : match.start()]
        if match[0][0] == "." and (
            SHORTENED.search(before) or NUMBERED.match(before + text[match.end() : match.end() + 4])
        ):
            continue
        if NUMBER_OF_ITEM.fullmatch(text[: match.end()]) and FEW_WORDS.fullmatch(text, match.end()):
            continue  # `2. Tokyo`, but not `42. Telnet uses 23.`
        cut.append(text[start : match.end()])
        start = match.end()
    return [*cut, text[start:]]


def without_guessing(reply: str) -> str:
    """Return the reply as if it were sure.

    >>> without_guessing("It is probably Paris."), without_guessing("It might be Paris.")
    ('It is Paris.', 'It is Paris.')
    """
    return re.sub(r"\b(?:might|may|could) be\b", "is", ADVERB_OF_A_GUESS.sub("", reply[-MOST_CHARACTERS:]))


def conclusion(reply: str) -> str:
    """Return the sentence with which a long reply concludes, or its short first line when the rest explains it; '' without one.

    >>> conclusion("Four pens cost 8. So each costs 2."), conclusion("Paris\\n\\nIt is on the Seine."), conclusion("It is nice. Yes.")
    ('So each costs 2', 'Paris', '')
    """
    concluding = [sentence for sentence in statements(reply) if CONCLUDES.match(sentence)]
    if concluding:
        return concluding[-1]
    first, _, rest = reply.strip().partition("\n\n")
    return first.strip() if rest and len(first) <= LONGEST_FIRST_LINE and not ITEM.match(rest) else ""


def chosen(sentences: Sequence[str], question: str) -> Sequence[str]:
    """Return the sentences that answer: the last that concludes, else those nearest to the question, else all."""
    if len(sentences) < 2:
        return sentences
    if concluding := [s for s in sentences if CONCLUDES.match(s)]:
        return concluding[-1:]
    asked = {word for word in echo(question) if not word.isdigit()}
    shared = [len(asked & echo(s)) for s in sentences]
    if DERIVED.fullmatch(sentences[-1]) and any("=" in s for s in sentences[:-1]):
        return sentences[-1:]
    if asked and max(shared) * 3 >= len(asked):
        return [s for s, share in zip(sentences, shared, strict=True) if share == max(shared)]
    return sentences


def plain_statement(sentence: str) -> str | None:
    """Return a sentence without what introduces, explains or contrasts; None when it says nothing for certain.

    >>> plain_statement("So it is Paris, not Rome"), plain_statement("It can't be Paris"), plain_statement("It is 'Not Found'")
    ('it is Paris', None, "It is 'Not Found'")
    """
    for _ in range(3):
        if (lead := LEAD.match(sentence)) is None or lead.end() == len(sentence):
            break
        sentence = sentence[lead.end() :]
    if CONDITION.match(sentence) or DOUBT.search(sentence):
        return None
    sentence = GIVEN.sub("", sentence)
    if (conclusion := list(SO.finditer(sentence))) and sentence[conclusion[-1].end() :].strip():
        sentence = sentence[conclusion[-1].end() :]
    sentence = NOT_TO_BE.sub("", sentence)
    for pattern, instead in CONTRAST:
        sentence = pattern.sub(instead, sentence)
    aside = ASIDE.search(sentence)
    if aside is not None and aside[0].strip()[:1] in "(（" and TAKEN_BACK.search(aside[0]):
        return None
    if COPULA.search(EXPLAINED.sub("", sentence)):
        sentence = EXPLAINED.sub("", sentence)
    sentence = ASIDE.sub(_unless_complement, INSERTED.sub("", sentence)).strip(" ,，;.。!！")
    if is_certain(sentence):
        return sentence
    certain = [clause for clause in CLAUSE.split(sentence) if is_certain(clause)]
    doubtful = "".join(clause for clause in CLAUSE.split(sentence) if not is_certain(clause))
    if not certain or GUESS.search(doubtful) or OTHERS_SAY.search(FORMERLY.sub("", doubtful)) or "?" in doubtful:
        return None
    return ", ".join(certain) if COPULA.search(certain[-1]) else None


def _unless_complement(aside: re.Match[str]) -> str:
    """Return what is in brackets where it is all that is said: `The point is (2, 3)`."""
    bracket = aside[0].strip()
    said = bracket[:1] == "(" and (
        "," in bracket or COPULA.search(aside.string[: aside.start()] + " ", max(0, aside.start() - 8))
    )
    return aside[0] if said and TUPLE.fullmatch(bracket) else ""


def is_certain(sentence: str) -> bool:
    """True if a sentence neither denies nor doubts what it says; the names in it may."""
    without = HARMLESS.sub("·", TITLE.sub("·", sentence))
    return not (negations(without) or GUESS.search(without) or OTHERS_SAY.search(without) or "?" in without)


def asked_clause(sentence: str, question: str) -> str:
    """Return the one clause that holds all words of the question, where others do not; else the sentence.

    >>> asked_clause("Ann has four cats and three dogs", "How many cats does Ann have?")
    'Ann has four cats'
    """
    asked = {word for word in echo(ASKED_KIND.sub("", question[:MOST_CHARACTERS])) if not TERM.fullmatch(word)}
    measures = set(MEASURES.findall(question.casefold()))
    if measures and any(measures & set(MEASURES.findall(clause.casefold())) for clause in CLAUSE.split(sentence)):
        about = [set(MEASURES.findall(clause.casefold())) for clause in CLAUSE.split(sentence)]
        kept = [
            clause for clause, other in zip(CLAUSE.split(sentence), about, strict=True) if not other or measures & other
        ]
        sentence = ", ".join(kept)
    elif measures and len(named := [clause for clause in CLAUSE.split(sentence) if not MEASURES.search(clause)]) == 1:
        sentence = named[0]  # the other clauses are about other measures
    clauses = CLAUSE.split(sentence)
    if not asked or len(clauses) < 2:
        return sentence
    if all(asked & echo(clause) for clause in clauses):
        asked &= echo(sentence)  # else some are items of a list, or parts of an amount
    verb, words = COPULA.search(clauses[0]), clauses[0].split(" ")[:3]
    subject = (
        set()
        if verb is not None and "=" in verb[0]
        else echo(clauses[0][: verb.start()] if verb is not None else " ".join(words)[: 24 if len(words) > 1 else 3])
    )
    for inherited in (set[str](), subject):
        whole = [clause for clause in clauses if asked <= echo(clause) | inherited and not echo(clause) <= asked]
        if whole:
            return whole[0] if len(whole) == 1 else sentence
    coordinated = [clause for clause in COORDINATED.split(sentence) if clause.strip()]
    shared = [len((asked & echo(clause)) - subject) for clause in coordinated]
    return coordinated[shared.index(max(shared))] if shared.count(max(shared)) == 1 else sentence
