"""Chinese replies whose answer one general property of them shows, and for which nothing else is accepted."""

import pytest

from proctor.core.sample import Sample
from proctor.core.score import Score
from proctor.core.trajectory import Trajectory
from proctor_judging.matching.han_question import read_han_question
from proctor_judging.scorers.answer import answer

CASES = {
    "a rate before or after its amount": ("成年人每分钟呼吸多少次？", "一般是每分钟12到20次。", "12-20次/分", "12-20次/小时"),
    "a range of days of one month": ("夏至一般在公历的哪几天？", "通常在6月20日到22日之间，冬至则在12月21日前后。", "6月20日至22日", "12月21日"),
    "a quarter of the year": ("哪个季度的销量最高？Q1 31，Q2 24，Q3 29，Q4 22", "第一季度最高，有31。", "Q1", "Q3"),
    "a season by either noun": ("桂花在哪个季节开？", "多在秋季，到了冬季就谢了。", "秋天", "冬天"),
    "the same year": ("这个国家什么时候独立的？", "在1960年1月的圆桌会议之后，它于同年6月30日正式独立。", "1960年6月30日", "1961年6月30日"),
    "a guess of others": (
        "大气中含量最多的气体是什么？", "氧气天天被提起，因此不少人会猜是**氧气**。氧气约占21%，排在第二位；排第一的是**氮气**，约占78%。", "氮气", "氧气"
    ),
    "a word that only looks like a guess": ("提出不确定性关系的物理学家叫什么？", "提出不确定性关系的是海森伯，玻恩提出的是概率解释。", "海森伯", "玻恩"),
    "about so much": ("这趟车最快几个小时？", "最快的车大概3小时20分。", "3小时20分", "3小时"),
    "a comma in a quotation": ("报错时弹出的是哪句话？", "弹出的是“网络繁忙，请稍后再试”，并不是“余额不足”。", "网络繁忙，请稍后再试", "余额不足"),
    "an offer after a comma": ('待办里有几条未读消息？{"total":40,"unread":9}', "您现在有 9 条未读消息，需要我帮您整理一下吗？", "9", "40"),
    "spaces next to numbers": ("这单什么时候签收的？", "这笔订单已于 **6 月 12 日**签收，揽收时间是 6 月 9 日。", "6月12日", "6月9日"),
    "the year of a bare date": ("这所大学成立于哪一年？", "1923年5月。", "1923年", "5月"),
    "until a day": ("这批奶什么时候到期？", "这批奶的保质期到 2021 年 3 月 6 日为止。", "2021年3月6日", "2021年3月"),
    "the bound of the question": ("溶液的pH值一般小于多少？", "弱酸雨是指pH值小于6.2的降水。", "6.2", "7"),
    "a bound that may not be passed": (
        "押金最长不得超过多久退还？", "依照合同，最长不得超过两个月。合同期不满一年的，还不能超过一周。", "两个月", "一周"
    ),
    "an amount among times of day": (
        "记录:员工9:58签到,10:20领料,10:44完工。领料到完工用了多少分钟?", "10:20领料,10:44完工,用了24分钟。如果从9:58算起,则是46分钟。", "24分钟", "46分钟"
    ),
    "a difference of depth": ("湖深:东湖18米,北湖31米。北湖比东湖深几米?", "北湖31米,东湖18米,相差13米。", "13米", "18米"),
    "what is right is no yes": ("清点时少了什么？", "清点结果显示，锤子和锯子数量正确，少的是水平仪。", "水平仪", "锤子"),
    "a contrasted clause is about another thing": (
        "光合作用主要在植物细胞的哪个部位进行？", "光合作用主要发生在叶绿体中，而线粒体负责的是呼吸作用。", "叶绿体", "线粒体"
    ),
    "the last of all is no conclusion": ("二十四节气中的第一个节气是什么？", "按传统顺序，二十四节气以立春为首，最后一个是大寒。", "立春", "大寒"),
    "a subject set off by a comma": ("岳飞字什么？", "岳飞，字鹏举，是南宋的将领。", "鹏举", "南宋的将领"),
    "a word that begins like a small word": ("正方体和长方体，哪种立体的棱一定相等？", "正方体。长方体不一定。", "正方体", "长方体"),
    "a lead that has a verb of opinion": ("谁发明了蒸汽机？", "通常认为蒸汽机是由詹姆斯·瓦特发明的，他是英国人。", "瓦特", "英国人"),
    "what only uses it": ("Linux下列出文件的命令是什么？", "使用 ls 命令即可列出文件。cd 是切换目录的。", "ls", "cd"),
    "a name with the noun of the question": (
        "黄河的发源地在哪个高原？", "黄河发源于青藏高原的巴颜喀拉山脉，最终在山东注入渤海。", "青藏高原", "渤海"
    ),
    "a word of another script with the noun of the question": (
        "Python里用什么关键字定义类？", "在 Python 中用 class 关键字定义类，匿名函数可以用 lambda。", "class", "lambda"
    ),
    "alternatives in brackets": ("这条新闻属于哪一类（军事/科技/旅游）：“新款芯片今日发布。”", "类别：科技\n\n理由：内容涉及芯片。", "科技", "军事"),
    "alternatives of another script": ("咖啡的英文常用哪个词，coffee 还是 cocoa?", "是 coffee。cocoa 是可可。", "coffee", "cocoa"),
    "alternatives with one verb": (
        "肺结核是细菌引起的还是病毒引起的？", "肺结核由细菌（结核杆菌）引起，所以要用抗生素，抗生素对病毒无效。", "细菌", "病毒"
    ),
    "alternatives with a preposition": ("光在玻璃中和在水中，哪个传播更快？", "在水中更快。", "水中", "玻璃中"),
    "the measure word of the question": ("人有多少对肋骨？", "正常人有12对、共24根肋骨。", "12对", "24"),
    "a part that the question does not name": ("一支排球队场上有几名队员？", "每队六人，其中一名是自由人。", "6", "1"),
    "the ordinal of the question": ("《合唱》是贝多芬的第几交响曲？", "《合唱》是贝多芬的第九交响曲。第六是《田园》。", "第九", "第六"),
    "the date of what the question asks about": (
        "《数据安全法》从什么时候开始施行？", "《数据安全法》于2021年6月10日表决通过，自2021年9月1日起施行。", "2021年9月1日", "2021年6月10日"
    ),
    "a date before the clause that tells": (
        "光电效应方程是哪一年提出的？", "他先在1900年发表了第一篇论文，也就是五年之后，即1905年，才提出光电效应方程。", "1905年", "1900年"
    ),
    "alternatives in brackets after a request": (
        "判断评论的情感（正面/负面）：“开始很失望，后来却爱不释手。”", "先抑后扬，因此情感为正面。", "正面", "负面"
    ),
    "the end of what the question has before its interrogative": (
        "HTTP状态码503表示什么？", "503表示服务不可用（Service Unavailable），说明服务器暂时过载，而不是客户端的问题。", "服务不可用", "服务器暂时过载"
    ),
    "called to be": ("后进先出的数据结构叫什么？", "后进先出（LIFO）的数据结构叫做栈（Stack），就像叠盘子一样。", "栈", "盘子"),
    "a frame without a comma": (
        "哪种血型被称为“万能受血者”？", "传统上AB型血被称为“万能受血者”，O型则被称为“万能供血者”。", "AB型", "O型"
    ),
    "a dynasty by either noun": ("杜甫是哪个朝代的诗人？", "杜甫是唐代诗人，被后人称为“诗圣”。", "唐朝", "宋朝"),
    "a region without what it is": ("中国面积最大的省级行政区是哪个？", "新疆维吾尔自治区，其次是西藏。", "新疆", "西藏"),
    "a capital with its country": ("卢浮宫在哪座城市？", "卢浮宫位于法国首都巴黎，原为王宫。", "法国巴黎", "法国"),
    "a name of which the question has the first part": ("鲁滨逊漂流记的主人公叫什么？", "答案是鲁滨逊·克鲁索", "鲁滨逊·克鲁索", "星期五"),
    "a weekday that the reply concludes": (
        "短文：“小红周一本来要去爬山，但因为刮风，改到了周四。”小红哪天去爬山？", "小红原定周一去爬山，因为刮风改期了，所以她是周四去爬山的。", "周四", "周一"
    ),
    "the last of a row of days": ("昨天是星期二，明天是星期几？", "昨天星期二 → 今天星期三 → 明天星期四。", "星期四", "星期三"),
    "the label that names what is asked": (
        "“卧薪尝胆”这个成语与哪位历史人物有关？", "**典故来源**：《史记》\n**相关人物**：勾践\n**故事概要**：他败给夫差后，卧薪尝胆。", "勾践", "夫差"
    ),
    "code as an example": (
        "Excel中用于条件计数的函数是什么？", "在Excel里做条件计数，可以用 COUNTIF（单条件）函数，例如 `=COUNTIF(A:A,\"北京\")`。求和则用 SUM。", "COUNTIF", "SUM"
    ),
    "a time in brackets repeats the one before": ("例会改到什么时候了？", "改到周四下午三点（15:00）了。", "周四15:00", "周三15:00"),
    "a date of the lunar calendar": ("端午节是农历哪一天？", "端午节是农历五月初五，人们会吃粽子。", "五月初五", "5月"),
    "a year before Christ": ("秦统一六国是哪一年？", "公元前221年。秦灭齐之后完成了统一。", "前221年", "221年"),
    "a date of others": ("新校区哪年启用？", "新校区原计划2019年启用，后来推迟到2021年。", "2021年", "2019年"),
    "the noun of the question and what it is": ("泰国使用什么货币？", "泰国的法定货币是泰铢（THB），汇率时有变动。", "泰铢", "汇率"),
    "what serves as it": ("丝绸之路的起点是哪里？", "西汉时丝绸之路以长安（今西安）为起点。东汉时起点移到了洛阳。", "长安", "洛阳"),
    "a question that ends with its verb": ("“海上生明月”的作者是？", "唐代诗人张九龄，出自《望月怀远》。", "张九龄", "《望月怀远》"),
    "the frame of a preposition": ("糖尿病主要和哪种激素有关？", "主要与胰岛素有关。如有不适请及时就医。", "胰岛素", "及时就医"),
    "quoted after its verb": ("李白被后人尊称为什么？", "李白被后人誉为“诗仙”，与“诗圣”杜甫并称“李杜”。", "诗仙", "诗圣"),
    "code as the first words": ("CSS中设置文字颜色的属性是哪个？", "`color` 属性。`background-color` 是设置背景颜色的。", "color", "background-color"),
    "a consequence concludes nothing": ("小鲸用什么呼吸？", "小鲸用肺呼吸，所以要定时浮出水面换气。", "肺", "换气"),
    "an option that is denied with another verb": (
        "四大发明不包括下列哪一项：造纸术、印刷术、地动仪？", "地动仪不属于四大发明，四大发明有造纸术和印刷术等。", "地动仪", "造纸术"
    ),
    "an option that is chosen": ("长城是哪个朝代开始修建的？选项：春秋战国、唐、明", "应选春秋战国。今天看到的长城大多是明代修建的。", "春秋战国", "明"),
    "an amount is no yes": ("蜜蜂有几只翅膀？", "蜜蜂一共有4只翅膀，即两对。", "4只", "2只"),
    "a denial of now": ("国花有没有正式规定？", "目前没有。", "没有", "有"),
    "a person after an office": ("合同由谁修改？", "合同由法务的小赵修改。", "小赵", "法务"),
    "the title of a work": ("《孔乙己》收录在哪部小说集里？", "收录在小说集《呐喊》中，《彷徨》收的是后来的作品。", "《呐喊》", "《彷徨》"),
    "the left side of an equation": ("一斤等于多少克？", "1斤=500克，1公斤=1000克。", "500克", "1000克"),
}  # fmt: skip


def _accepts(question: str, reply: str, target: str) -> bool:
    score = answer(Sample.ask("s", question, target=target), Trajectory.of(reply))
    return isinstance(score, Score) and score.points == 1


@pytest.mark.parametrize("case", CASES)
def test_the_answer_is_accepted_and_what_else_the_reply_has_is_not(case: str) -> None:
    question, reply, right, wrong = CASES[case]
    assert not right or _accepts(question, reply, right)
    assert not _accepts(question, reply, wrong)


def test_the_verbs_of_a_question_come_in_one_order_whatever_the_hash_seed() -> None:
    question = read_han_question("植物光合作用释放的气体是什么？")
    assert question is not None
    assert len(question.verbs) > 1
    assert list(question.verbs) == sorted(question.verbs, key=lambda verb: (-len(verb), verb))
