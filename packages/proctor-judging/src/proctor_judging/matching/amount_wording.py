"""The words around an amount that say what it is: a rate, a base, a difference, a label, a conclusion, a guess."""

import re

from proctor_judging.matching.amounts import WORD_NUMBERS
from proctor_judging.matching.patterns import compile_later

HAN_PAIR = compile_later(r"(?=([\u3400-\u9fff]{2}))")
TIMES = compile_later(r"\s?(?:times\b(?! (?:a|per)\b)|倍)|多少倍|几倍|how many times", re.IGNORECASE)
SUBJECT_ASKED = compile_later(
    r"(?:^|[，,。；？\s的])((?:(?!的)[\u3400-\u9fff]){2,6}?)(?:一?共|总共)?(?:是|为|有|等于)?(?:多少|几)"
)
AND_PART = compile_later(
    r"\b(\d{1,4} (?:hours?|minutes?|years?|weeks?|days?|feet|foot|pounds?)) and (?=\d{1,2} (?:months?|days?|hours?|minutes?|seconds?|inch(?:es)?|ounces?)\b)",
    re.IGNORECASE,
)
ROUNDED = compile_later(
    r"(?:\b(?:about|roughly|approximately|around|rounded(?: to)?|rounds(?: up| down| off)? to)\s|[≈约])\s?$",
    re.IGNORECASE,
)
ASKS_ROUNDED = compile_later(
    r"\b(?:round(?:ed)?|nearest|approximate(?:ly)?|decimals?|places|significant)\b|保留|精确|小数|约|四舍五入",
    re.IGNORECASE,
)
ASKS_NOW = compile_later(r"\b(?:now|in the end|finally|at the end)\b|现在|最后|最终|如今", re.IGNORECASE)
CHECKS = compile_later(r"\W*(?:(?:check|verif(?:y|ication)|to (?:check|verify))\b|检验|验证|验算|检查)", re.IGNORECASE)
OPENING = compile_later(
    r"^(?:sure|certainly|of course|absolutely|okay|ok|great question|good question|hi|hello|好的?|当然(?:可以)?|没问题|可以)\s?[,，!！。:：.]\s*(?=\S)",
    re.IGNORECASE,
)
TOTAL = compile_later(
    r"\b(?:in (?:total|all)|total|altogether|sum|(?:amounts?|comes?|adds? up) to)\b|[一总]共|合计|总计|总和|[加合]起来",
    re.IGNORECASE,
)
CONNECTIVE = compile_later(r"(?:but|and|while|whereas|但是?|而)\s?(?=\S)", re.IGNORECASE)
HEADING = compile_later(
    r"(?:第[\d一二三四五六七八九十]{1,3}[步题问小空]{1,2}|(?:step|question|problem|exercise|part) \w{1,4})\s?[:：.)]\s?",
    re.IGNORECASE,
)
ASKS_MONEY = compile_later(
    r"\bhow much (?:\w+ ){1,4}?(?:pay|paid|cost|earn|spend|spent|charge|owe|save|receive|make)\w*\b|\b(?:price|cost)\b|多少钱|几[元块]|多少元|价格|花了多少|[工时日周月年][资薪]|售价",
    re.IGNORECASE,
)
RANK_OF_SCENE = compile_later(
    r"第[一二三四五六七八九十\d]{1,3}(?:季度|步|题|天|周|次|轮|年|学期|站|批|组|段|部分|个|杯|局|节|场)"
)
PRONOUNS = frozenset("它他她这那该我你们此其")
THOUSANDS = compile_later(r"(?:[kK]|bn|mn)\b")
CONTRASTED = compile_later(
    r"(?:unlike|compared (?:with|to)|in contrast to|rather than|instead of|as opposed to|不像|不同于|相比)",
    re.IGNORECASE,
)
COUNTER_ASKED = compile_later(r"(?:多少|几)([\u3400-\u9fff])")
OF_THEM = compile_later(r"[^，。,.\d]{0,8}(?:当?中|里[头面]?)(?:有|的|，|,|只|仅|\d|$)")  # 1200名学生中有36名
EACH = compile_later(
    r"\b(?:each|per|every|one \w+ (?:cost|weigh|last|have|has|hold)s?|an? (?:hour|day|week|minute|second|month|year|kg|kilo|litre|piece))\b|每|单价|速度|speed|rate|小时工资|[时日周月年]薪",
    re.IGNORECASE,
)
RATE_AFTER = compile_later(
    r"[^,;.]{0,16}?\b(?:each|per \w+|an? (?:week|day|month|hour|year)|apiece)\b",
    re.IGNORECASE,
)
RATE_BEFORE = compile_later(
    r"(?:每[^，。,]{1,4}?|单价|时速)[^，。,\d]{0,4}$|\b(?:each|every)\b[^,;.]{0,24}$", re.IGNORECASE
)
WITH_FRACTION = compile_later(
    rf"\b(?:{WORD_NUMBERS}|\d{{1,3}}) and (?:an?|one|two|three) (?:hal(?:f|ves)|thirds?|quarters?|fifths?)\b",
    re.IGNORECASE,
)
MONEY_TENTHS = compile_later(r"(?<![\d.])(\d{1,6})块([1-9])(?![\d个块])")
OLD = {"廿": "二十", "卅": "三十"}
OLD_TENS = compile_later(r"[廿卅](?=[一二三四五六七八九个只本支人天年岁位名条])")
RATE_UNIT = compile_later(r"^(?:每|时速)|/(?:h|s|hr|小时|秒)$|\bper\b")
SCENE = compile_later(r"^\W*(?:then )?(?:after|before|until|within|during)\s$", re.IGNORECASE)
HAN_SCENE = compile_later(r"(?:之?[前后内]|的?时候?)")
EQUALS_BEFORE = compile_later(r"(?:=|≈|\bequals\b|等于)\s?$", re.IGNORECASE)
BESIDES = compile_later(r"另|此外|还有|除此")
PARTS = compile_later(r"\d+(?:\.\d+)?")
EXPLAINING = compile_later(
    r"(\d[^:：,，]{0,40})(?<![\d日月年])[:：]\s?(?=[^:：]*\d)"
)  # `$165 in total: $150 for six months and $15`
MULTIPLE = compile_later(r"\d[A-Za-z]\s?=\s?$")  # the 27 of 3x = 27
NOUN = 24  # characters after an amount that may name what it counts
LABEL = compile_later(
    r"(?:\b(?:questions?|problem|exercise|step|item|task|no\.?|(?<![a-z]s )number|room|chapter|section|page|line|table|figure|fig\.|unit|lesson|level|grade|class|flight|bus|route|gate|platform|"
    r"floor|version|v|case|part|example|q|day|week|team|group|phase|round|season|episode|book|volume|lot|box|stage|act|article|clause|paragraph|annex|appendix|exhibit|schedule|lane|track|zone|type|model|route|highway|rule|"
    r"(?:answer )?to q)\s?#?|#|第\s?|[Qq]\.?\s?)$",
    re.IGNORECASE,
)
LABELLED = compile_later(r"\s?(?:号(?!码)|室|路(?!程)|班(?!人|[，。]|$))")
ASKS_WHICH = compile_later(
    r"\b(?:which|what) (?:number|room|chapter|section|page|line|step|item|question|problem|figure|table|level|grade|class|flight|bus|route|gate|platform|floor|day|week|round|season|episode|place)\b"
    r"|第几|几[号路楼班级年页章]|哪一?[号路楼班级页章步题]",
    re.IGNORECASE,
)
MODEL = compile_later(r"(?:[A-Z]\w*-|\b[A-Z]{2,}\s|\w\s[A-Z][a-z]+\s|波音|空客|歼|[A-Za-z])$")
PLACE = compile_later(r"(?:^|\s)(?:at|in|near|from|to|for|with) [A-Z][a-z]+\s$", re.IGNORECASE)
NOT_A_MODEL = frozenset(
    [
        "in",
        "on",
        "by",
        "of",
        "at",
        "from",
        "with",
        "there",
        "only",
        "about",
        "over",
        "the",
        "a",
        "and",
        "total",
        "sum",
        "usd",
        "rmb",
        "cny",
        "eur",
        "is",
    ]
)
IN_A_YEAR = compile_later(
    r"(?:\b(?:in|since|by|from|until|of|during|before|after|born|founded|opened|\w+ed|Q[1-4])\s|[于在自从]|截至|成立于|建于|生于)$",
    re.IGNORECASE,
)
ASKS_YEAR = compile_later(
    r"\b(?:what|which) (?:year|century)\b|\bin (?:what|which) year\b|^\W*when\b|\bwhen (?:did|does|do|was|were|is|are|will|has|had)\b|哪一?年|什么时候|何时|几几年|年份",
    re.IGNORECASE,
)
ASKS_SHARE = compile_later(
    r"\bper ?cent|percentage|百分之|百分比|多少%|几成|(?<![速频汇斜曲功效概辨周心])率(?:是|为)?多少", re.IGNORECASE
)
SET_UP = compile_later(  # what was there before, was expected, or is only the base
    r"(?:(?:^of|\bout of|\bof (?:the|all|all the|these|those|our|his|her|their)|\d of|^with|\b(?:among|had|used to be|expected|planned|predicted|hoped for|originally|initially|at first|first|instead of|started with|began with|share(?:d)? (?:by|among|between)|divided by))(?: about| only| the| a total of| all)?\s|"
    r"原[有来计]?划?[^，。]{0,2}|起初[^，。]{0,6}|本来[^，。]{0,3}|预计[^，。]{0,4}|(?<!现)在这?|分给)$",
    re.IGNORECASE,
)
CONCLUDING = compile_later(
    r"\b(?:so|therefore|thus|hence|in (?:total|all)|total|altogether|leav(?:es|ing)|left|remain(?:s|ing)?|the (?:answer|result|sum)|finally|now|in other words|actually|gives|makes|each gets?)\b"
    r"|[一总]共|共[^，。]{0,6}(?=\d)|合计|总计|所以|因此|还?剩|故|于是|现在|实际|答案?|即|最[后终]|结果|每[人个份位]",
    re.IGNORECASE,
)
STATED_CONCLUSION = compile_later(
    r"\W*(?:(?:end(?:s|ed|ing)?\s(?:up\s)?with|result(?:s|ing)?\sin|mak(?:es|ing)|giv(?:es|ing)|leav(?:es|ing)|which\s(?:is|means|makes|leaves|gives)|for\sa\stotal|that(?:'s|\sis|\smakes)|so|therefore|thus|hence|finally|in other words|the (?:final )?(?:answer|result))(?![a-z])|total\s?[:：]|合计[:：]|加起来|[余剩](?=\d)|所以|因此|故|于是|最[后终]|答案?|即|综上)",
    re.IGNORECASE,
)
VAGUE_BEFORE = compile_later(
    rf"(?:几|(?<![均位众总个人系指分倍约余因公底])数|upwards of|突破|\b(?:between|from)\s\S{{1,12}}(?:\s\S{{1,12}})?\s(?:and|to)|(?<!\bin [12]\d\d\d)(?<=\d)\s?(?:or|to|-|–|—|~|至|到|或)|\b(?:{WORD_NUMBERS}|one)\s(?:or|to)|[一二三四五六七八九十]\s?(?:或|到|至)|介于.{{1,8}}[和与到至])\s?$",
    re.IGNORECASE,
)
VAGUE_AFTER = compile_later(
    r"(?:-?\s?(?:something|odd|ish|plus)\b|\+(?!\s?[\d(])|\s?(?:or|to|-|–|~)\s?(?:\d|[a-z]+ (?:\w+ )?$)|\s?[或到至~]\s?[\d一二三四五六七八九十]|[\u3400-\u9fff]?(?:左右|上下|以上|以下|出头|多))",
    re.IGNORECASE,
)
ROUGH = compile_later(r"一二|两三|二三|三[四五]|四五|五六|六七|七八|八九")
BETWEEN = compile_later(r"\b(between\s\S{1,20}(?:\s\S{1,20})?)\sand\s", re.IGNORECASE)
BRACKET = compile_later(r"\s?[（(][^（）()]{0,200}[)）]")
MINUS = compile_later(r"(?:零下|负|\bminus |\bnegative )$", re.IGNORECASE)
TENTHS = compile_later(r"成([一二三四五六七八九半])?(?!为|了|功|员|本|绩|立)")
DENIED_AFTER = compile_later(
    r"\s?\S{0,12}?\s?(?:(?:is|are|was|were)(?:n't| not)|(?:is|was) (?:wrong|incorrect|false)|不对|错误|是错)"
)
BEFORE_CHANGE = compile_later(
    r"\b(?:before|original(?:ly)?|old|initial(?:ly)?|at first|start)\b|原来|原价|原有|起初|以前|之前|开始",
    re.IGNORECASE,
)
CHANGED = compile_later(
    r"\b(?:cut|reduced|lowered|raised|increased|changed|marked down|marked up|went|(?:gone|goes|went|come|came|is|was|are|were) (?:up|down))\sfrom\s[^,]{1,40}?\sto\s|[从由][^，。]{1,12}?(?:[降升涨增减提跌调落扩缩滑攀]\w{0,2}|变)(?:到|至|为|成)了?",
    re.IGNORECASE,
)
UNIT_ASKED = compile_later(
    r"\bhow (?:many|much) ([^\W\d_]{2,20})|\bin ([^\W\d_]{1,20}(?:/[a-z]{1,3})?)\b(?! \d)", re.IGNORECASE
)


ASKS_YEARS = compile_later(r"多少个?年(?!级|代)|几年(?!级)|how many years", re.IGNORECASE)
ASKS_DIFFERENCE = compile_later(
    r"\bby how (?:many|much)\b|\bhow (?:many|much)(?: \w+)? did .{1,40} (?:grow|rise|fall|increase|drop|decrease|decline|change|win|lose|improve)\b|\bhow (?:many|much) (?:\w+ )?(?:more|fewer|less|cheaper|older|taller|longer|further)\b|\bdifference\b|\bmargin\b|[多少高低贵便宜大小快慢重轻长短远近赢输涨跌增减差](?:宜|出|了|过)?(?:多少|几)(?!年前)|比[^，。？]{1,12}[多少][\u3400-\u9fff]{1,2}(?:多少|几)",
    re.IGNORECASE,
)
DIFFERENCE_BEFORE = compile_later(
    r"(?:\b(?:margin|difference|lead|gap|(?:rise|fall|drop|increase|decrease|gain|loss) of)\b[^,;\d]{0,16}|\bby (?:just |only )?[$€£¥]?|(?:相差|(?<!至)(?<!最)[多少]|差|赢|输|便宜|贵)(?:了|出)?(?:就是|为|是)?|[高低快慢大长短重轻](?:了|出))$",
    re.IGNORECASE,
)
DIFFERENCE_AFTER = compile_later(
    r"\s?(?:\w+ )?(?:more|fewer|less|cheaper|older|younger|taller|longer|shorter|further|ahead|apart)\b", re.IGNORECASE
)
BASE = compile_later(r"\W*(?:(?:out )?of|among) [^,;\d]{1,40}$|[^，]{0,6}(?<!现)在[^，\d]{0,6}$", re.IGNORECASE)
WHOLE_SAID = compile_later(r"合起来|加起来|[一总]?共有?|合计|总计|全[班部校体]")
ONLY_ONE = compile_later(r"\b((?:just|only|exactly) )one\b(?! of\b)", re.IGNORECASE)
DIVIDED = compile_later(r"=\s?(\d+)\s?(?:…{1,2}|\.{3,6}|余|[rR](?:emainder)?)\s?(\d+)")
ASKS_REMAINDER = compile_later(r"余|remainder|left over", re.IGNORECASE)
YEAR_BEFORE = compile_later(r"([12]\d{3})年(?!.*[12]\d{3}年)[^,，]{0,12}$")
OF_A_YEAR = compile_later(r"\s(?:[a-z]+ ){0,2}in ([12]\d{3})\b")
ASKS_REST = compile_later(r"剩|还有|\bleft\b|\bremain", re.IGNORECASE)
REST_BEFORE = compile_later(r"(?:[剩余]下?了?|\b(?:leav(?:es|ing)|left with|remain(?:s|ing)?))\W*$", re.IGNORECASE)
PARTICIPLE = compile_later(r"^(?:having|after|by|while) (?=\w+)", re.IGNORECASE)
DIGITS = compile_later(r"\d+")
ELLIPTIC = compile_later(r"%|比| more\b")
NONE_AT_ALL = compile_later(r"一[个個只名位条本张件棵辆座](?:也|都)没有?|\bnone\b|\bnot a single\b", re.IGNORECASE)
NOBODY = compile_later(r"(?:no one|nobody)\b|没有?人", re.IGNORECASE)
ASKS_PEOPLE = compile_later(
    r"\bhow many (?:\w+ )?(?:people|persons|students|pupils|guests|members|workers|passengers|visitors)\b|(?:多少|几)[个名位]?人",
    re.IGNORECASE,
)
DEFEATS = compile_later(r"\b(?:defeat(?:s|ed)|beats?|edged out)\b|战胜|击败|胜过|打败|险胜")
ASKS_WINNER = compile_later(r"\bwinn(?:er|ing)\b|获胜|[胜赢][者家方]|胜出|当选", re.IGNORECASE)
ASKS_LOSER = compile_later(r"\blos(?:er|ing)\b|落选|[败输][者家方]", re.IGNORECASE)
BARE = compile_later(r"\d[\d,.]*")
OWN_RANK = compile_later(r"第[一二三四五六七八九十\d]{1,3}名?$")
ASKS_SPEED = compile_later(r"\b(?:speed|velocity|how fast)\b|速度|时速|多快", re.IGNORECASE)
EACH_OF = compile_later(
    r"\b(?:one (?!of\b)\w+ (?:cost|weigh|last|have|has|hold)s?|each|per|every|apiece|an? (?:week|day|month|hour|year))\b|每",
    re.IGNORECASE,
)
HOW_BIG = compile_later(
    r"(?P<length>\bhow (?:far|tall|wide|deep|high)\b(?! (?:is|was) the (?:temperature|price|cost|salary))|多[远高宽深](?!的)|身高|宽度|高度)|\bhow heavy\b|多重|体重",
    re.IGNORECASE,
)
