"""Say which forms a name in a Chinese reply has: without what introduces or follows it, without its region, title or epithet, with the noun of the question."""

import re
from collections.abc import Iterable, Sequence

from proctor_judging.matching.han_question import HanQuestion, read_han_question
from proctor_judging.matching.patterns import compile_later
from proctor_judging.matching.question_words import HAN

LEAD = compile_later(
    r"(?:(?:多半|大多数?|多数|用来|用于|但是?|不过|然而|(?:严格|准确|确切|一般|简单|总的?)(?:地|来)?[说讲]|当然(?=是|$)|比如|例如|默认|到达|抵达|写作|一般|通常|普遍|公认|大家|人们|目前|现在|如今|最终|最后|所以|因此|故而?|综上(?:所述)?|可见|可知|由此可(?:见|知)|答案?(?:应该|应|就)?(?:是|为|：|:)?|其实|实际上|事实上|显然|我?(?:认为|觉得)|认为|应该|应当|正?是|就是|即|那?(?:就|便)是|当然是|只有|仅有|唯有|"
    r"由|被|的(?:就|正|便)?是|则|而是?|便|就|乃|都|也|才|正(?=[是在位处于为])|的确|确实|主要|最|为|又(?=[叫称名])|叫做?|称为|称作|名叫|叫作|名为|指的?是|指(?=[^南甲纹挥数标头导示出]{2})|[又也被简俗亦]?称(?![号呼赞职重量作为])|说的是|在|于|位于|坐落[于在]|处于|地处|到了?|至|[使采运利]?用(?!户)|靠|归|选择?|当属|当数|要数|莫过于|属于|算是?|来自|出自|源于|等于|有|含有?|包括|需要?|要|会|可以|能|了|着|过|[:：，,、\s]))+"
)
LINK = compile_later(
    rf"^(?:的?人?者?(?:就|正|便|应该|应)?是|[{HAN}]{{0,5}}?(?:(?<![对关由等])于(?!是)|(?<![现存所])在(?!线)|(?<!自)由|[搬迁移改调推提][{HAN}]?[至到为]|称之?为|(?<![作认因])为(?!了)|俗称)|的[{HAN}]{{1,6}}?(?:叫做?|称为|是|为)|[{HAN}]{{1,6}}?(?:叫做|称为|称作)|(?:[这该此它其][{HAN}]{{0,4}}?)?(?:比喻|形容|表示|意味着|[讲说]的是)|用?来(?=..)|用[于以]|[定建]都|出自|来自|属于|归入|叫做?|称作|当属|当数|要数|担任|:|：|(?:主要|一直|一般|通常)?[{HAN}]{{1,2}}[了着过])"
)
AROUND = compile_later("^.+(?:附近|旁边|周边|隔壁|以[东西南北])的(?=..)")  # what it is near is not it
TAIL = compile_later(
    r"(?:则|便|就|也|还|曾|已经?|仍然?|率先|首先|最先|首次|最早|独自|亲自|终于|最终|最后|成功|共同|本人|的确|确实|可以?|会|要|将|所|来|去|地|后|们|的|了|吧|呢|哦|呀|啊|啦|哟|进行|负责|一带|附近|境内|这边|那边|之手|笔下|手中|[~～!！。,，、:：;；\s])+$"
)
BRACKET = compile_later(r"\s?[（(]([^（）()]{1,60})[)）]")
CLOSING = '”"》`'
SEVERAL = compile_later("[两二三四五几些]")
PARTICLES = ("的", "了", "呢", "哦", "。")
COUNTRIES = "中国|我国|美国|英国|法国|德国|日本|韩国|俄罗斯|前?苏联|印度|意大利|西班牙|葡萄牙|加拿大|澳大利亚|新西兰|巴西|阿根廷|墨西哥|希腊|埃及|土耳其|荷兰|比利时|瑞士|瑞典|挪威|丹麦|芬兰|奥地利|波兰|泰国|越南|新加坡|马来西亚|南非"
PROVINCES = "(?:北京|上海|天津|重庆|河北|山西|辽宁|吉林|黑龙江|江苏|浙江|安徽|福建|江西|山东|河南|湖北|湖南|广东|海南|四川|贵州|云南|陕西|甘肃|青海|台湾|内蒙古|广西|西藏|宁夏|新疆|香港|澳门)(?:省|市|自治区)?"
PERIODS = "(?:先秦|春秋|战国|[东西]?汉|三国|[东西]?晋|南北朝|隋|唐|五代|[南北]?宋|元|明|清|民国|现代|当代|近代|古代)(?:代|朝|末年?|初年?|时期)?"
REGION = compile_later(
    rf"^(?:{COUNTRIES}|{PROVINCES}|{PERIODS})(?:著名|的)?(?=[\u3400-\u9fff·]{{2,}})(?![国队籍裔省市]|人$|语$|大学|公司|银行|维吾尔|壮族|回族)"
)
OF_KIND = {  # what an answer to a question for one of them must be
    **dict.fromkeys(("国家", "国"), compile_later(COUNTRIES)),
    **dict.fromkeys(("省份", "省"), compile_later(PROVINCES)),
    **dict.fromkeys(
        ("朝代", "时期"),
        compile_later(
            "(?:[东西]汉|三国|[东西]晋|南北朝|五代|[南北]宋|民国|战国|春秋|先秦|[汉秦晋隋唐宋元明清][代朝初末])(?:时期)?|[南北]宋|唐(?=人$)"
        ),
    ),
}
PERSONAL = compile_later(
    rf"^[{HAN}]{{0,12}}?(?:家|员|师|名将|大将|将领|丞相|宰相|诗人|学者|将军|皇帝|总统|教授|导演|歌手|选手|作者|医生|主席|经理|总监|词人|巨匠|大师|老师|同学|部|处|科|[长务政事理管书代])(?:的)?(?=[{HAN}A-Za-z·-]{{2,16}}$)"
)
TRIMS = (  # of any name
    REGION,
    compile_later(r"^一[只个位名种座条部件所家款本项张颗份套双对瓶杯袋支台篇首门幅段类场把根棵朵片块道艘辆]"),
    compile_later(rf"^一[只个位名种座条部件所家款][^，。]{{0,24}}的(?=[{HAN}]{{2,8}}$)"),
    compile_later(r"^(?:\d+|[一二〇零九八]{4})年(?:\d+月)?(?:\d+日)?(?=..)"),
    compile_later(
        r"(?<=..)(?:[中里内]的|(?:来|以|去|而|进行)(?=..)).*$|(?<=[\u3400-\u9fff])来(?=[获吸呼保完进实传表达提].).*$|的人物?$"
    ),
    compile_later(
        r"(?:作为|[两三四几]种|等).*$|(?<=.{2})(?:市中心|市区|境内|\s?[中里内上下])$|(?:有限|股份|责任|集团)*公司$|集团$|(?<=型)血$"
    ),
    compile_later(r"(?<=[^》])·[^《》]*(?=》$)"),
    compile_later("^.{0,14}第[一二三四五六七八九十]+[部篇个种座位款本首届条](?=..)"),
    compile_later(r"^实为?(?=..)|(?<=》).+$|(?<=[!-~]) [\u3400-\u9fff].*$|[\"”]?的(?:意思|含义)$"),
    compile_later(r"(?<=..)(?:导致|造成|致使|使得|引起|引发|以致)(?=..).*$"),
    compile_later(
        r"(?:所|共同)?(?:主持|引起|导致|造成|制成|组成|构成|做成|制作|[\u3400-\u9fff]{2}而成|而成|得名|命名|分泌)的?$"
    ),
)
OWNED = compile_later(
    rf"^[{HAN}]{{1,6}}(?=《[^《》]+》$)|^[^，。来以把向]{{1,24}}(?<!之)的(?=[{HAN}A-Za-z\d·《]{{2,14}}》?$)"
)
OF_PERSON = (
    PERSONAL,
    compile_later(
        rf"^[{HAN}]{{1,8}}的(?=[{HAN}]{{2,3}}$)|^[{HAN}]王(?=[{HAN}]{{2}}$)|(?<=..)[两三四五六七八九十多数几][次度番].*$"
    ),
    compile_later(r"(?<=..)的(?:作品|著作|代表作|小说|诗|名作|诗句|创作|手笔|《.*|名篇|散文|画作)$"),
    compile_later(
        r"(?:先生|女士|老师|同学|教授|院士|博士|医生|主任|经理|本人)$|(?<=..)[发写画做买说拍唱开送交管教定出提拿打](?:的|了)?$"
    ),
    compile_later(
        r"(?<=..)(?:于|在|以|应|因|凭|从|经|通过|把|将|给|向|受|趁|历时|花|耗|并|与(?=[两三几其同他她])|率先|首先|最先|首次|偶然|独自|所著|担任|来|的第).*$"
    ),
)
OF_PLACE = (
    compile_later(r"^.*的(?=省会|首都|首府|古都|名城)|(?<=..)的.*$|(?:省|市)(?=[\u3400-\u9fff]{2,}[区县镇]).*$"),
    compile_later(r"^.*(?:首都|省会|城市|名城|古城)(?=..)"),
    compile_later(rf"^[{HAN}]+[国省州县区市]的?(?=[{HAN}]{{2,}}$)(?!.*[区县镇街路号]$)"),
)
DYNASTY = {"代": "朝", "朝": "代"}
AUTONOMOUS = compile_later("(?<=..)(?:维吾尔|壮族|回族)?自治区$|特别行政区$")
TITLE_OF_CITY = compile_later(rf"^({COUNTRIES}|{PROVINCES})的?(?:首都|省会|首府)(?=..)")
LAST_NAME = compile_later(r"^[^·]+·(?=[^，。·]{1,12}$)|^[^·]+·[^·]+·(?=[^，。·]{1,12}$)")
SUFFIX_OF_HEAD = {"城市": "市", "省份": "省", "国家": "", "朝代": "", "时期": ""}
ALIAS = compile_later(
    r"^(?:即|今天?的?|现在?的?|又[名称叫]|也[称叫]|简称|又称为?|别名|俗称|亦称|全称|也可以?说|英文名?[为是]?|symbol|符号[为是]?)?[:：]?\s?(?P<name>.+)$"
)
MARKED = compile_later(r"^(?:即|今(?![天年日])|也可以?说|又[名称叫]|也[称叫]|简称|又称为?|别名|俗称|亦称|全称)")
ALSO = compile_later(
    r"(?:也就是|即|又称|又叫|也叫|也称|俗称|简称|(?:全称|中文名?|英文名?|译名|缩写)(?:意思|名称)?(?:叫做?|称为|译为|写作|[是为])?)(?:今天的|现在的|如今的)?\s?[“\"]?([^\W_]([^\W_]|[· ]){0,30})[”\"]?(?=[，,。.；;]|$)"
)
BETWEEN_NAMES = '，,*`”"》 '
MOST_FORMS = 24


def name_forms(name: str, question: str) -> tuple[str, ...]:
    """Return a name that a reply sets off, with the shorter and longer forms of it that answer a Chinese question as well."""
    asked = read_han_question(question)
    return tuple(forms_of(trimmed(name), asked, name)) if asked is not None else ()


def kind_asked(asked: HanQuestion) -> re.Pattern[str] | None:
    """Return what the answer must be, if the question asks for one period, country or province."""
    if SEVERAL.search(asked.gap):
        return None
    noun = asked.head or ("" if asked.right else asked.left.rpartition("的")[2])
    return OF_KIND.get(noun) or OF_KIND.get(asked.gap.removeprefix("哪"))


def trimmed(text: str) -> str:
    """Return a text without the small words around it."""
    text = text.strip(" \"'*")
    lead = LEAD.match(text)
    if lead is not None and lead.end() < len(text):
        text = text[lead.end() :]
    shorter = TAIL.sub("", text) if "·" not in text[-3:] else text
    return (shorter if len(shorter) > 1 or text[1:] in PARTICLES else text).strip(" \"'*")


def forms_of(text: str, asked: HanQuestion, clause: str) -> Iterable[str]:
    """Yield a name, the shorter names that are part of it, with and without the noun of the question, and the one in brackets."""
    if AROUND.match(text) is not None:
        yield from (text, AROUND.sub("", text))
        return
    if text.count("《") != text.count("》") and (title := re.search("《[^《》]+》", clause)) is not None:
        text = title[0]
    forms = [text]
    verb = next(
        (asked.left[-size:] for size in (2, 1) if asked.gap and asked.left and text.startswith(asked.left[-size:])), ""
    )
    forms += [text.removeprefix(verb)] if verb and len(text) > len(verb) + 1 else []
    forms += [text.removesuffix(verb) for verb in asked.verbs if text.endswith(verb) and len(text) > len(verb) + 1][:1]
    plain = LINK.sub("", text, count=1)
    kind = kind_asked(asked)
    region = kind.search(plain) if kind is not None else None
    if region is not None:
        forms += [plain, region[0]]
    else:
        trims = (*TRIMS, *(OF_PERSON if asked.asks_who else (LINK, *OF_PLACE) if asked.asks_where else (LINK, OWNED)))
        for form in forms:
            shorter = [trimmed(trim.sub("", form, count=1)) for trim in trims]
            forms += [name for name in dict.fromkeys(shorter) if len(name) > 1 and name not in forms]
            if len(forms) > MOST_FORMS:
                break
    forms += [form[:-1] + DYNASTY[form[-1]] for form in forms if kind is not None and form[-1:] in DYNASTY]
    forms += [AUTONOMOUS.sub("", form) for form in forms if AUTONOMOUS.search(form) is not None]
    forms += [TITLE_OF_CITY.sub(r"\1", form) for form in forms if asked.asks_where and TITLE_OF_CITY.match(form)]
    forms += [
        part
        for form in forms
        if "·" in form
        for part in (LAST_NAME.sub("", form), *((form.partition("·")[0],) if not asked.asks_who else ()))
    ]
    forms = [form for form in forms if form]
    yield from dict.fromkeys([*forms, *_with_head(forms, asked, clause), *aliases_of(clause, text)])


def _with_head(forms: Sequence[str], asked: HanQuestion, clause: str) -> Iterable[str]:
    """Yield names with and without the noun that the question asks for: 阿根廷 of 阿根廷队, 客服部门 of 客服."""
    head = asked.head + asked.right[-1:] or (asked.left[-2:] if asked.gap and not asked.right else "")
    for form in forms:
        if asked.head and form.endswith(asked.head) and form != asked.head:
            yield trimmed(form.removesuffix(asked.head))
        if head and form[-1] in head and (len(form) > 2 or form[-1] in "色代朝"):
            yield form[:-1]
        if asked.gap and not asked.head and asked.right and form + asked.right[:2] in clause:
            yield form + asked.right[:2]
        if asked.left.endswith("省会") and not asked.head:
            yield form + "市"
        if len(asked.head) == 1 or asked.head in ("部门", *SUFFIX_OF_HEAD):
            yield form + SUFFIX_OF_HEAD.get(asked.head, asked.head)


def aliases_of(clause: str, name: str) -> Iterable[str]:
    """Yield the other name that a bracket gives: 中央处理器 of CPU（中央处理器）, no remark such as 产品总监."""
    at = clause.find(name)
    end = at + len(name)
    bracket = BRACKET.match(clause, end + (clause[end : end + 1] in CLOSING and end < len(clause))) if at >= 0 else None
    if bracket is None:
        return
    alias = ALIAS.match(bracket[1])
    other = alias["name"].strip('"“”') if alias is not None else ""
    foreign = other.isascii() != name.isascii()
    if other and (
        MARKED.match(bracket[1])
        or (foreign and not re.search(r"\d", other))
        or any(char in name for char in other if not char.isascii())
    ):
        yield other


def other_names(text: str) -> tuple[str, ...]:
    """Return the other names that a text begins with: `，简称安，英文名是 ampere。`

    >>> other_names("，简称安，英文名为 ampere。电压的单位是伏特。")
    ('安', 'ampere')
    """
    names, rest = [], text.lstrip(BETWEEN_NAMES)
    while (match := ALSO.match(rest)) is not None:
        names.append(match[1].strip())
        rest = rest[match.end() :].lstrip(BETWEEN_NAMES)
    return tuple(names)
