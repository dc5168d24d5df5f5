"""Take from a Chinese sentence what only introduces it."""

from proctor_judging.matching.patterns import compile_later

OPENING = compile_later(
    r"^(?:好[的呀嘞]?|(?:很|非常)?抱歉|对不起|不好意思|很?遗憾|没问题|当然(?:可以)?|你好|您好|嗯+|哈哈+|哈喽|嗨|哎呀?|同学们?(?:好|注意)?|注意|亲亲?|这是(?:一?个)?[^，。]{0,6}问题|这个问题[^，。：]{0,8}|让我[^，。：]{1,10}|我来[^，。：]{1,10}|是的|对|没错)(?=[，,!！~。：:]|$)[，,!！~。：:\s]*"
)
FRAME = compile_later(
    r"传统上|(?:(?:据(?!我(?:所知|了解)[是有在为叫])|根据|按照|依据|结合|联系|综合|回到|截至|截止(?!日期)|查阅|参考)[^，,：:]{1,24}|(?:从|就|论|按|在)[^，,：:]{1,16}(?:讲|说|看来?|言|角度|方面|里|中|上)|在[^，,]{1,16}下|论[^，,]{1,6}|在[^，,]{1,12}(?:中|里|上|内|时)|"
    r"(?:一般|通常|总的?|严格|具体|简单|准确|客观|确切|相对)(?:来说|来讲|而言|地说|说来|情况下|说)?|换句话说|众所周知|事实上|实际上|其实|目前|现在|如今|显然|毫无疑问|简言之|总之|很?显然|经(?:查|过)[^，]{0,8}|如果[^，]{0,6}没记错(?:的话)?)(?:[，,：]|(?<!\d):)\s*|据我(?:所知|了解)(?=[是有在为叫])"
)


def without_opening(sentence: str) -> str:
    """Return a sentence without what only introduces it: `好的，`, `据我了解，`.

    >>> without_opening("好的，据我了解，鲁迅出生在绍兴")
    '鲁迅出生在绍兴'
    """
    for _ in range(3):
        match = OPENING.match(sentence) or FRAME.match(sentence)
        if match is None or match.end() == len(sentence):
            break
        sentence = sentence[match.end() :]
    return sentence
