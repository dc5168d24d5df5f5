"""Split a Chinese question into the text on either side of its interrogative, the noun of the interrogative, and the options it names."""

import re
from collections.abc import Sequence
from functools import cache, lru_cache

import msgspec

from proctor_judging.matching.patterns import compile_later
from proctor_judging.matching.question_words import HAN, MOST_CHARACTERS, table_lines
from proctor_judging.matching.text import negations, tidy

INTERROGATIVE = compile_later(
    r"谁|何(?=[人处地种])|(?:什么|怎么?)样的?(?![办做])|怎么(?=[说写读念拼翻])|(?<!为)什么(?!时候)|(?<=[称作认誉视叫]为)什么|啥|哪(?:里|儿|些|边|(?:一|[两二三四五])?[个座条种类所支项颗国省市只片本部首家位款面门段篇句层间场届名张艘瓶笔台辆枚把架份])?|(?<=[号码址箱牌话D][是为])多少"
)
HEAD = compile_later(
    r"[^的是在有，]{0,3}?(?:城市|地方|部门|动物|植物|水果|蔬菜|颜色|语言|器官|元素|原料|材料|成分|方法|命令|关键字|工具|软件|快捷键|电影|小说|游戏|乐器|运动|菜系|奶酪|学科|科目|同学|学生|诗人|朝代|时期|机构|组织|品牌|手机|产品|"
    r"景点|建筑|园林|线路|车站|房间|会议室|班级|货币|单位|协议|格式|文件|函数|类型|算法|数据结构|食物|食材|疾病|药物|生肖|名字|职位|职业|专业|物质|棋子|角色|人物|公司|大学|学校|中学|民族|节日|季节|国家|省份|地区|直辖市|维生素|"
    r"气体|球队|细胞|行星|球员|名称|东西|激素|版本|平台|现象|定律|定理|效应|原理|理论|事件|战争|金属|病毒|细菌|气候|制度|乐曲|故事|典籍|(?:[家员师者]|[素剂酸糖菌药油字词句曲]|[人队星国省市县区洲洋海河江湖山岛城体器属书诗歌茶酒花树鸟鱼奖球车病站桥路楼板课派])(?![人份方市物]))"
)
PASSAGE = compile_later(r"[“\"][^”\"]{9,}[”\"]|[“\"][^”\"]{4,}[。！!；;，,][^”\"]*[”\"]")
PIECE = compile_later(r"[^。？?！!；;\n]+")
ITEM = rf"[{HAN}A-Za-z\d·《》 .+/-]"
LIST = compile_later(
    rf"{ITEM}{{1,12}}(?:、{ITEM}{{1,12}}?)+(?:(?:和|与|以及|或者?|还是){ITEM}{{1,12}}?)?(?=$|[，,：:。？?]|[这几三四]|中|里|之中|当中|相比|哪|谁)"
)
BETWEEN = compile_later(
    rf"({ITEM}{{1,10}}?)[和与跟]({ITEM}{{1,10}}?)(?:相?比|之间|当中|中|里|之中)?[，,]?\s?(?:，|到底|究竟)?(?=哪|谁)"
)
OR = compile_later(rf"({ITEM}{{1,16}})[，,]?还是({ITEM}{{1,10}}?)(?=$|[，,：:。？?]|的$|呢)")
AFTER_VERB = compile_later(r"^.*(?:是|属于|在|到|算|为|从|用|坐|选|喝|吃|要|去|住|往|于|更)")
ASCII_END = compile_later("[!-~]+$")
SLASHED = compile_later(rf"[（(]({ITEM}{{1,12}}(?:/{ITEM}{{1,12}})+)[)）]")
IMPERATIVE = compile_later(
    r"(?:^|[。，,])(?:请|帮我)?(?:从[^，。]{2,12}中)?(?:找出|提取|抽取|指出|说出|写出|给出|列出|识别)(?:[其文上]中的?)?([^，。；;:：?？!！\n]{2,24})[。:：!！]?(?=$|\n|\s?[“\"])"
)
OPEN_END = compile_later(r"(?:是|为|叫做?|称为|位于|在于|属于|来自|出自|[于在])$")
LISTED = compile_later(rf"(?:选项|备选|可选)[^，。？?:：]{{0,4}}[:：]\s?({ITEM}{{1,12}}(?:、{ITEM}{{1,12}})+)")
OF_THEM = compile_later(r"(?:这|那)?(?:[几三四五六两]|\d)?[个种样位者]?(?:[^、]{0,4})?(?:之中|当中|中|里)$")
BOTH = compile_later(r"(.{1,6})两([队人组班校厂个])")
BEFORE_GAP = compile_later(
    r"(?:(?:到底|究竟|主要|一般|通常|最后|最终|位于|出自|来自|属于|(?<!首)都|由|被|是|为|叫做?|称为|称作|指的?是?|的|了|在|于|到|(?<![使采利运])用|靠|有|自)+)$"
)
NAMED = compile_later("(?:是|叫做?|属于|称为|为|[了过])$")
LONGEST_HEAD = 4
ASKS_WHETHER = compile_later(r"吗$|是不是|能不能|会不会|有没有|对不对|可不可以|是否")


CLAUSE = compile_later(r"[^，,。；;：:？?！!\n]+(?:[？?，,]\s?)?")
ASKING = compile_later("谁|什么|哪|多[少大高长远久重]|几|怎|吗|还是")


class HanQuestion(msgspec.Struct, frozen=True):
    """A Chinese question.

    Attributes:
        text: the clause that asks, without passages that it quotes.
        before, gap, right: what precedes the interrogative, the interrogative with its measure word, and the rest.
        left: `before` without `是`, `在` and the like.
        head: the noun that the interrogative belongs to, with which `right` begins: 球队 of 哪支球队.
        options: the things that it lists or offers.
        pairs: every two neighbouring characters of it.
        denied: how often it denies.
        verbs: verbs that may answer those of the question, the longest first.
    """

    text: str
    before: str
    left: str
    gap: str
    head: str
    right: str
    options: tuple[str, ...]
    pairs: frozenset[str]
    denied: int
    verbs: tuple[str, ...]

    @property
    def asks_who(self) -> bool:
        return (
            bool(self.gap)
            and self.gap[-1] not in "国省市"
            and (
                self.gap in ("谁", "何")
                or (self.head or self.left * (not self.right))[-1:] in ("人", "者", "家", "师", "员")
                or self.gap[-1:] in "位名"
                or (self.gap != "什么" and any(verb in self.text for verb in winning_verbs()))
            )
        )

    @property
    def asks_agent(self) -> bool:
        """True if it asks who does something, not whom it is done to: 写给谁."""
        return self.asks_who and re.search("(?:[给向对跟和与为送成](?:了)?)$", self.before) is None

    @property
    def asks_where(self) -> bool:
        return self.gap in ("哪里", "哪儿", "哪") or self.head in ("地方", "城市", "国家", "省份", "省", "市", "国")


@lru_cache(maxsize=512)
def read_han_question(question: str) -> HanQuestion | None:
    """Return the parts of a question; None unless it asks in Chinese for a name or one of its options.

    >>> question = read_han_question("2022年世界杯冠军是哪支球队？")
    >>> question.left, question.gap, question.head, question.right
    ('2022年世界杯冠军', '哪支', '球队', '球队')
    >>> read_han_question("铁、铜和金中，哪个最贵？").options, read_han_question("绿茶还是红茶？").options
    (('铁', '铜', '金'), ('绿茶', '红茶'))
    """
    whole = tidy(PASSAGE.sub("", question[-MOST_CHARACTERS:]))
    pieces = [piece[0].strip() for piece in PIECE.finditer(whole)]
    asking = [piece for piece in pieces if INTERROGATIVE.search(piece) or "还是" in piece]
    asking = asking or [piece for piece in pieces if SLASHED.search(piece)]
    if not asking and pieces and (open_end := OPEN_END.search(pieces[-1])) is not None:
        asking = [pieces[-1] + ("" if open_end[0] in "是为叫" else "是") + "什么"]
    if not asking and (wanted := IMPERATIVE.search(whole)) is not None:
        asking = [wanted[1] + "是什么"]
    if not asking or ASKS_WHETHER.search(asking[-1].rstrip(" ，,：:")):
        return None
    piece = asking[-1]
    clauses = [clause for clause in re.split("[，,：:]", piece) if INTERROGATIVE.search(clause) or "还是" in clause]
    text = (clauses or [piece])[-1].strip(' "“”')
    options = _options(piece if (listed := LISTED.search(whole)) is None else listed[1])
    gap = INTERROGATIVE.search(text)
    if gap is None:
        left = text.partition("还是")[0]
        left = left.removesuffix(options[0]) if options else left
        return _question(piece, text, left, "", "", "", options)
    rest = text[gap.end() :].rstrip("呢啊呀吗的")
    head = HEAD.match(rest)
    if head is None and NAMED.search(text[: gap.start()]) and len(rest) <= LONGEST_HEAD:
        head = re.match(".+", rest)
    is_noun = head is not None and (gap[0] == "什么" or gap[0] in ("何", "哪") or len(gap[0]) > 1) and gap[0] != "谁"
    return _question(
        piece, text, text[: gap.start()], gap[0], head[0] if head is not None and is_noun else "", rest, options
    )


def two_asked(question: str) -> tuple[str, ...]:
    """Return the two questions with which a text ends, each after what precedes both; () unless its last two clauses ask.

    >>> two_asked("他累了。他叫什么，几岁？"), two_asked("他叫什么？")
    (('他累了。他叫什么？', '他累了。几岁？'), ())
    """
    clauses = list(CLAUSE.finditer(question := question[-MOST_CHARACTERS:].strip()))[-2:]
    if len(clauses) < 2 or clauses[0].end() != clauses[1].start() or not all(ASKING.search(it[0]) for it in clauses):
        return ()
    return tuple(question[: clauses[0].start()] + clause[0].strip(" ，,?？") + "？" for clause in clauses)


def _question(
    piece: str, text: str, before: str, gap: str, head: str, right: str, options: tuple[str, ...]
) -> HanQuestion:
    plain = INTERROGATIVE.sub("\n", piece.replace(gap + head, "\n") if gap else piece)
    for option in options:
        plain = plain.replace(option, "\n")
    pairs = frozenset(plain[at : at + 2] for at in range(len(plain) - 1))
    return HanQuestion(
        text, before, BEFORE_GAP.sub("", before), gap, head, right, options, pairs, len(negations(text)), _verbs(text)
    )


def _options(text: str) -> tuple[str, ...]:
    """Return the things that a question lists or offers; () without any."""
    text = re.sub('["“”]', "", text)
    if (in_brackets := SLASHED.search(text)) is not None:
        names = [name.strip() for name in in_brackets[1].split("/")]
    elif (listed := LIST.search(text)) is not None and re.match("[两二三四]者[的间之]", text[listed.end() :]) is None:
        names = [OF_THEM.sub("", name).strip() for name in re.split("、|和|与|以及|或者?|还是", listed[0])]
        names[0] = AFTER_VERB.sub("", names[0]) or names[0]
        if (both := BOTH.fullmatch(names[-1])) is not None:
            names = [*(name + both[2] for name in names[:-1]), both[1] + both[2]]  # 甲、乙两队
    elif (offered := OR.search(text)) is not None:
        first, second = offered[1].strip(), offered[2].strip()
        verb = AFTER_VERB.match(first)
        after = first[verb.end() :] if verb is not None else first[-len(second) :]
        names = [first[-len(second) :] if first[-1] == second[-1] and len(after) > len(second) else after, second]
        if second.isascii() and (ascii_end := ASCII_END.search(first)) is not None:
            names[0] = ascii_end[0]
        names = _without_shared_end(names)
        if text[offered.end() :].startswith("的") and not names[0].endswith(names[1][-1]):
            names[1] = _without_verb(names[1])  # 李白还是杜甫写的
    elif (between := BETWEEN.search(text)) is not None:
        names = [between[1], between[2]]
        if (both := BOTH.fullmatch(names[1])) is not None:
            names = [names[0] + both[2], both[1] + both[2]]  # 甲、乙两队
        names[0] = names[0].rpartition("，")[2]
        if names[1].isascii() and "的" in names[0]:
            names[0] = names[0].partition("的")[0]  # 5G的速度和4G比
        if names[1].startswith("在") and between[0].startswith(
            names[1] + names[0][-1:], between.start(2) - between.start()
        ):
            names = [names[0], names[1].removeprefix("在") + names[0][-1:]]  # 声音在空气中和在水中
        after = AFTER_VERB.sub("", names[0])
        if after and abs(len(after) - len(names[1])) < abs(len(names[0]) - len(names[1])):
            names[0] = after  # 声音在水中和空气中
        if names[1].isascii() and (ascii_end := ASCII_END.search(names[0])) is not None:
            names[0] = ascii_end[0]  # 分数3/4和2/3
    else:
        return ()
    return tuple(names) if len(set(names)) == len(names) > 1 and all(names) else ()


def _without_verb(name: str) -> str:
    verb = next(
        (verb for group in _groups() for verb in group if name.endswith(verb) and len(verb) + 1 < len(name)), ""
    )
    return name.removesuffix(verb)


def _without_shared_end(names: Sequence[str]) -> list[str]:
    """Return two alternatives without the verb that both end with: 病毒 and 细菌 of 病毒引起的还是细菌引起."""
    plain = [name.removesuffix("的") for name in names]
    verbs = (verb for group in _groups() for verb in group if len(verb) > 1)
    verb = next((verb for verb in verbs if all(name.endswith(verb) for name in plain)), "")
    return [name.removesuffix(verb) for name in plain] if verb else list(names)


def _verbs(text: str) -> tuple[str, ...]:
    """Return the verbs that may answer those of a question: 撰写 and 创作 of 写."""
    groups = [group for group in _groups() if any(verb in text for verb in group if verb != "在")]
    return tuple(
        sorted({verb for group in groups for verb in group if verb != "在"}, key=lambda verb: (-len(verb), verb))
    )


@cache
def winning_verbs() -> frozenset[str]:
    return next(frozenset(group) for group in _groups() if group[0] == "冠军")


@cache
def _groups() -> list[list[str]]:
    return [line.split(" ") for line in table_lines("han_verbs.txt")]
