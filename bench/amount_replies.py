"""Generate replies to questions of amounts in many forms, English and Chinese: derivations, facts with a remark, conclusions, checks.

Nothing is drawn at random, so every run has the same pairs. A problem has the sentence that answers it, the steps that lead to the
answer, and a fact that may follow it; a form puts them together as chat models do.
"""

from collections.abc import Iterator

import msgspec


class Problem(msgspec.Struct, frozen=True):
    """A question of an amount, and what a reply may say.

    Attributes:
        question: the question, with what it gives.
        value: the right target, a bare number.
        amount: the same as a reply writes it, with its unit or noun.
        clause: the clause that answers; `{}` is the amount.
        steps: sentences before the answer, without their full stop.
        sum: an equation without its result.
        fact: a sentence that may follow the answer and mentions another amount.
        wrong: wrong targets.
    """

    question: str
    value: str
    amount: str
    clause: str
    steps: tuple[str, ...]
    sum: str
    fact: str
    wrong: tuple[str, ...]


class AmountReply(msgspec.Struct, frozen=True):
    """A reply of the grid, with its right target and the wrong ones."""

    form: str
    question: str
    text: str
    right: str
    wrong: tuple[str, ...]


def _problems(*rows: str) -> Iterator[Problem]:
    for row in rows:
        question, amount, clause, steps, equation, fact, wrong = (part.strip() for part in row.split("|"))
        value = amount.partition("~")[2] or "".join(sign for sign in amount if sign.isdigit() or sign == ".")
        yield Problem(
            question,
            value,
            amount.partition("~")[0],
            clause,
            tuple(step.strip() for step in steps.split(";") if step.strip()),
            equation,
            fact,
            tuple(text.strip() for text in wrong.split(";")),
        )


# question | amount, ~ and its value | clause | steps | equation | fact | wrong
ENGLISH = tuple(_problems(
    "Tom is 6 years older than Ann. Together they are 40. How old is Tom? | 23 years old~23 | Tom is {} | Let Ann be a. Then a + (a + 6) = 40, so 2a = 34 and a = 17 | 17 + 6 | Ann is 17. | 17; 34; 6",
    "A cake is cut into 12 slices; Leo eats 4 and Mia eats 3. How many are left? | 5 slices | {} are left | They ate 4 + 3 = 7 slices | 12 - 7 | They ate 7 slices in all. | 7; 12; 4",
    "Order: 4 chairs at $60 each, delivery $35. What is the total? | $275 | the order comes to {} | The chairs cost 4 × $60 = $240; Delivery adds $35 | $240 + $35 | The chairs alone cost $240. | 240; 35; 60",
    "A recipe for 4 people needs 200 g of rice. How much rice is needed for 10 people (in g)? | 500 g | you need {} of rice | One person needs 200 / 4 = 50 g | 50 × 10 | That is 50 g per person. | 50; 200; 10",
    "What is the mean of 4, 8, 10 and 18? | 10 | the mean is {} | The sum is 4 + 8 + 10 + 18 = 40; There are 4 numbers | 40 / 4 | The median is 9. | 40; 4; 9",
    "A shirt costs $80 and is reduced by 25%. What is the sale price? | $60 | the sale price is {} | 25% of $80 is $20 | 80 - 20 | You save $20. | 20; 80; 25",
    "A train leaves at a speed of 90 km/h. How far does it travel in 4 hours? | 360 km | the train travels {} | Distance is speed times time | 90 × 4 | Its speed is 90 km/h. | 90; 4; 94",
    "A class has 18 boys and 14 girls. What percentage of the class are girls (to the nearest percent)? | 44% | about {} of the class are girls | There are 18 + 14 = 32 pupils | 14 / 32 | The other 56% are boys. | 32; 56; 14",
    "A tank holds 240 litres. A pump removes 15 litres a minute. How many minutes until it is empty? | 16 minutes | it takes {} | The pump removes 15 litres every minute | 240 / 15 | After 8 minutes it is half empty. | 15; 240; 8",
    "Sara had $50. She bought 3 books at $9 each. How much money does she have left? | $23 | she has {} left | The books cost 3 × $9 = $27 | $50 - $27 | She spent $27. | 27; 50; 9",
    "A rectangle is 9 cm long and 5 cm wide. What is its perimeter in cm? | 28 cm | the perimeter is {} | The sum of length and width is 9 + 5 = 14 | 2 × 14 | Its area is 45 square centimetres. | 14; 45; 9",
    "Solve 3x + 7 = 31 for x. | 8 | x is {} | Subtract 7 from both sides: 3x = 24 | 24 / 3 | Check: 3(8) + 7 = 31. | 24; 31; 7",
    "The shop sold 45 pens on Monday and twice as many on Tuesday. How many pens did it sell in total? | 135 pens | the shop sold {} in total | On Tuesday it sold 2 × 45 = 90 pens | 45 + 90 | On Tuesday alone it sold 90. | 90; 45; 2",
    "How many bones does an adult human have? | 206 bones | an adult human has {} | | | Babies are born with about 300. | 300; 207; 106",
    "How long is a marathon in kilometres? | 42.195 km | a marathon is {} long | | | That is about 26.2 miles. | 26.2; 42; 21",
    "The report says: revenue was $3.2 million in 2021 and $4.1 million in 2022; 85 people work there. How many people work there? | 85 people | {} work there | | | Revenue was $4.1 million in 2022. | 4.1; 2022; 3.2",
    "How many moons does Mars have? | 2 moons | Mars has {} | | | Jupiter has 95. | 95; 1; 4",
    "Meeting note: the workshop starts at 9 and has 24 seats, of which 17 are taken. How many seats are free? | 7 seats | {} are free | 17 of the 24 seats are taken | 24 - 17 | 17 are taken. | 17; 24; 9",
    "A car uses 6 litres of fuel per 100 km. How many litres does it use for 350 km? | 21 litres | it uses {} | 350 km is 3.5 times 100 km | 3.5 × 6 | Fuel costs more on holidays. | 3.5; 6; 350",
    "What is the least common multiple of 6 and 8? | 24 | the least common multiple is {} | Multiples of 6 are 6, 12, 18, 24; Multiples of 8 are 8, 16, 24 | 6 × 8 / 2 | Their greatest common divisor is 2. | 2; 12; 48",
))  # fmt: skip
HAN = tuple(_problems(
    "甲比乙大6岁，两人年龄之和是40岁，甲多少岁？ | 23岁 | 甲{} | 设乙为x岁，则x+x+6=40，2x=34，x=17 | 17+6 | 乙17岁。 | 17; 34; 6",
    "一个蛋糕切成12块，小明吃了4块，小红吃了3块，还剩多少块？ | 5块 | 还剩{} | 两人一共吃了4+3=7块 | 12-7 | 两人共吃了7块。 | 7; 12; 4",
    "买4把椅子，每把60元，运费35元，一共要付多少元？ | 275元 | 一共要付{} | 椅子的价钱是4×60=240元；再加运费35元 | 240+35 | 其中椅子240元。 | 240; 35; 60",
    "4个人吃饭需要200克米，10个人需要多少克米？ | 500克 | 10个人需要{}米 | 每人需要200÷4=50克 | 50×10 | 平均每人50克。 | 50; 200; 10",
    "4、8、10、18的平均数是多少？ | 10 | 平均数是{} | 总和是4+8+10+18=40；一共4个数 | 40÷4 | 中位数是9。 | 40; 4; 9",
    "一件衬衫原价80元，打七五折后是多少元？ | 60元 | 打折后是{} | 便宜了80×25%=20元 | 80-20 | 便宜了20元。 | 20; 80; 25",
    "一列火车每小时行90千米，4小时行多少千米？ | 360千米 | 4小时行{} | 路程等于速度乘时间 | 90×4 | 火车的速度是每小时90千米。 | 90; 4; 94",
    "班里有男生18人，女生14人，女生占全班的百分之几（保留整数）？ | 44% | 女生约占全班的{} | 全班共18+14=32人 | 14÷32 | 男生占56%。 | 32; 56; 14",
    "水池有240升水，每分钟抽走15升，多少分钟能抽完？ | 16分钟 | {}能抽完 | 每分钟抽走15升 | 240÷15 | 8分钟时抽走一半。 | 15; 240; 8",
    "小华有50元，买了3本书，每本9元，还剩多少元？ | 23元 | 小华还剩{} | 三本书共花了3×9=27元 | 50-27 | 一共花了27元。 | 27; 50; 9",
    "长方形长9厘米、宽5厘米，周长是多少厘米？ | 28厘米 | 周长是{} | 长与宽的和是9+5=14厘米 | 14×2 | 面积是45平方厘米。 | 14; 45; 9",
    "解方程3x+7=31，x等于多少？ | 8 | x等于{} | 两边同时减去7，得3x=24 | 24÷3 | 检验：3×8+7=31。 | 24; 31; 7",
    "商店周一卖出45支笔，周二卖出的是周一的2倍，两天一共卖出多少支笔？ | 135支 | 两天一共卖出{} | 周二卖出45×2=90支 | 45+90 | 其中周二卖出90支。 | 90; 45; 2",
    "成年人有多少块骨头？ | 206块 | 成年人有{}骨头 | | | 婴儿出生时约有300块。 | 300; 207; 106",
    "马拉松全程多少千米？ | 42.195千米 | 马拉松全程{} | | | 半程约21千米。 | 21; 42; 26",
    "“公司2022年营收410万元，2021年320万元，现有员工85人。”公司现有员工多少人？ | 85人 | 公司现有员工{} | | | 2022年营收410万元。 | 410; 2022; 320",
    "火星有几颗卫星？ | 2颗 | 火星有{}卫星 | | | 木星有95颗。 | 95; 1; 4",
    "会议室有24个座位，已坐17人，还空多少个座位？ | 7个 | 还空{}座位 | 24个座位中坐了17个 | 24-17 | 已坐17人。 | 17; 24; 9",
    "汽车每100千米耗油6升，行驶350千米耗油多少升？ | 21升 | 行驶350千米耗油{} | 350千米是100千米的3.5倍 | 3.5×6 | 每千米耗油0.06升。 | 3.5; 6; 350",
    "某市人口2020年为310万，2023年为325万，增加了多少万？ | 15万 | 增加了{} | 2020年310万；2023年325万 | 325-310 | 三年前是310万。 | 325; 310; 3",
    "正六边形的内角和是多少度？ | 720° | 内角和是{} | 多边形内角和公式为(n-2)×180°，代入n=6 | 4×180° | 每个内角为120°。 | 120; 180; 6",
))  # fmt: skip


def _upper(clause: str) -> str:
    return clause[:1].upper() + clause[1:]


def _english(problem: Problem, at: int) -> Iterator[tuple[str, str]]:
    amount, clause, fact = problem.amount, problem.clause.format(problem.amount), problem.fact
    said = _upper(clause)
    yield "bare", amount
    yield "bare", f"{problem.value}."
    yield "clause", f"{said}."
    yield "bold", f"{_upper(problem.clause.format(f'**{amount}**'))}."
    yield "label", f"Answer: {amount}"
    yield "label", f"The answer is {amount}."
    yield (
        "polite",
        f"{said}. {('Let me know if you need anything else!', 'Hope this helps!', 'Feel free to ask more.')[at % 3]}",
    )
    yield "fact", f"{said}. {fact}"
    yield "fact", f"{amount}. {fact}"
    yield "fact", f"**{amount}**\n\n{fact}"
    yield "fact", f"The answer is {amount}. {fact}"
    yield "opened", f"Sure! {said}. {fact}"
    if problem.steps:
        yield from _english_derived(problem)


def _english_derived(problem: Problem) -> Iterator[tuple[str, str]]:
    amount, clause, fact = problem.amount, problem.clause.format(problem.amount), problem.fact
    said = _upper(clause)
    steps, last = ". ".join(problem.steps), f"{problem.sum} = {amount}"
    yield "steps", f"{steps}. {said}."
    yield "steps", f"{steps}. So {clause}."
    yield "steps", f"{steps}. Therefore, {clause}."
    yield "steps", f"{steps}. That means {clause}."
    yield "steps", f"Let's work it out. {steps}. Then {last}."
    yield "steps", f"{steps}. {last}. {said}."
    yield "steps", f"{steps}, so {clause}."
    yield "steps", f"{steps}. Answer: {amount}"
    yield "steps", f"{steps}. The answer is {amount}."
    yield "steps", f"{steps}. {last}"
    yield (
        "list",
        "\n".join(
            [
                *(f"{number}. {step}" for number, step in enumerate(problem.steps, 1)),
                f"{len(problem.steps) + 1}. {last}",
            ]
        ),
    )
    yield "list", "\n".join([*(f"- {step}" for step in problem.steps), f"- {last}", "", f"{said}."])
    yield "list", "\n".join([*(f"- {step}" for step in problem.steps), "", f"**{amount}**"])
    yield "reason", f"{said}. {last}."
    yield "reason", f"{said}, because {last}."
    yield "reason", f"{said}: {last}."
    yield "reason", f"{amount} ({last})."
    yield "reason", f"{amount}. {steps}, and {last}."
    yield "reason", f"**{amount}**\n\n{steps}. {last}."
    yield "checked", f"{steps}. {last}. {fact}"
    yield "giving", f"{steps}, giving {last}."
    yield "boxed", f"{steps}. $\\boxed{{{problem.value}}}$"
    yield "polite", f"{steps}. So {clause}. Let me know if you want more detail!"
    yield (
        "therefore",
        f"{steps}. {last}. {_upper(problem.clause.format('therefore ' + amount) if ' is {}' in problem.clause else 'Hence ' + clause)}.",
    )


def _han(problem: Problem, at: int) -> Iterator[tuple[str, str]]:
    amount, clause, fact = problem.amount, problem.clause.format(problem.amount), problem.fact
    yield "bare", amount
    yield "bare", f"{problem.value}。"
    yield "clause", f"{clause}。"
    yield "bold", f"{problem.clause.format(f'**{amount}**')}。"
    yield "label", f"答案：{amount}"
    yield "label", f"答案是{amount}。"
    yield "polite", f"{clause}。{('希望对你有帮助！', '如有疑问欢迎继续提问。', '还有其他问题吗？')[at % 3]}"
    yield "fact", f"{clause}。{fact}"
    yield "fact", f"{amount}。{fact}"
    yield "fact", f"{clause}，{fact}"
    yield "fact", f"**{amount}**\n\n{fact}"
    yield "opened", f"好的，{clause}。{fact}"
    if not problem.steps:
        return
    steps, last = "；".join(problem.steps), f"{problem.sum}={amount}"
    yield "steps", f"{steps}。{clause}。"
    yield "steps", f"{steps}，所以{clause}。"
    yield "steps", f"{steps}。因此，{clause}。"
    yield "steps", f"{steps}。{last}。"
    yield "steps", f"解：{steps}，{last}。答：{clause}。"
    yield "steps", f"先算第一步，{steps}，再算{last}。"
    yield "steps", f"{steps}，那么{clause}。"
    yield "steps", f"{steps}。{last}，即{clause}。"
    yield "steps", f"{steps}。答案：{amount}"
    yield "steps", f"{steps}，得{amount}。"
    yield (
        "list",
        "\n".join(
            [
                *(f"{number}. {step}" for number, step in enumerate(problem.steps, 1)),
                f"{len(problem.steps) + 1}. {last}",
            ]
        ),
    )
    yield "list", "\n".join([*(f"- {step}" for step in problem.steps), f"- {last}", "", f"{clause}。"])
    yield "list", "\n".join([*(f"- {step}" for step in problem.steps), "", f"**{amount}**"])
    yield "reason", f"{clause}。{last}。"
    yield "reason", f"{clause}，因为{last}。"
    yield "reason", f"{amount}（{last}）。"
    yield "reason", f"{amount}。{steps}，{last}。"
    yield "checked", f"{steps}，{last}。{fact}"
    yield "polite", f"{steps}。所以{clause}。希望对你有帮助！"


def replies() -> Iterator[AmountReply]:
    """Yield all replies with the target that is right for them and the wrong ones."""
    for problems, forms in ((ENGLISH, _english), (HAN, _han)):
        for at, problem in enumerate(problems):
            for form, text in forms(problem, at):
                yield AmountReply(form, problem.question, text, problem.value, problem.wrong)
