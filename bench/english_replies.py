"""Generate English replies of many forms to questions of many kinds: a grid, each cell of which says how well the reader does there.

A frame is a question with its answer, what else its reply may mention, and the sentences that answer it. A form writes a frame as chat
models do: bare, with a remark, hedged, corrected, after a derivation. Nothing is drawn at random, so every run has the same pairs.
"""

from collections.abc import Callable, Iterator

import msgspec

LONG = (
    "This has been known for a long time and can be looked up in any good book on the matter. There are several reasons for it, some of which are still "
    "discussed by experts, and the details vary a little from one source to the next. It is often asked in quizzes as well, which shows how common the "
    "question is, and how easily it gets confused with others that sound alike."
)


class Frame(msgspec.Struct, frozen=True):
    """A question, its answer and what a reply may say about it.

    Attributes:
        kind: the kind of question, a row of the grid.
        answer: the right target.
        rivals: wrong targets; the first is what the replies with a contrast or a correction mention.
        echo: the answer in a sentence that repeats the question.
        other: sentences with the answer in other words.
        remark: what may follow the answer after a comma: an apposition or a relative clause.
        gloss: what may follow it in brackets.
        facts: sentences that may follow; they mention other things than the answer.
        noun: the noun of the answer's class, as in `the Nile river`; '' if none is usual.
    """

    kind: str
    question: str
    answer: str
    rivals: tuple[str, ...]
    echo: str
    other: tuple[str, ...] = ()
    remark: str = ""
    gloss: str = ""
    facts: tuple[str, ...] = ()
    noun: str = ""


class Reply(msgspec.Struct, frozen=True):
    """A reply of a cell, with its right target and the wrong ones."""

    kind: str
    form: str
    question: str
    text: str
    right: str
    wrong: tuple[str, ...]


def _frames(kind: str, question: str, echo: str, *rows: str) -> Iterator[Frame]:
    """Yield the frames of a question: `{x}` is what a row is about, `{a}` its answer; a row has its fields between bars."""
    for row in rows:
        about, answer, rivals, remark, gloss, noun, facts, *other = [part.strip() for part in row.split("|")]

        def filled(text: str, about: str = about, answer: str = answer) -> str:
            text = text.replace("{x}", about).replace("{a}", answer)
            return text[:1].upper() + text[1:]

        facts_of = tuple(filled(fact.strip()) for fact in facts.split(";") if fact.strip())
        names = tuple(rival.strip() for rival in rivals.split(";"))
        others = tuple(filled(sentence) for sentence in other if sentence)
        yield Frame(kind, filled(question), answer, names, filled(echo), others, remark, gloss, facts_of, noun)


# x | answer | rivals | remark | gloss | noun | facts | other sentences
FRAMES = (
    *_frames("which, subject", "Which {x}?", "{a} {x}",
        "country borders both Spain and Andorra | France | Portugal; Italy; Spain | which lies to the north | officially the French Republic | | It shares the Pyrenees with both. | The country you want is {a} | It shares a border with {a}",
        "company makes the Galaxy phones | Samsung | Apple; Huawei; Sony | a South Korean firm | specifically Samsung Electronics | | Its main rival is Apple. | The Galaxy phones are made by {a} | Galaxy phones come from {a}",
        "department has the largest budget | Marketing | Finance; Legal; Sales | with $4 million | | department | Finance comes second with $2 million. | The largest budget belongs to {a} | The department with the largest budget is {a}",
        "planet has the most moons | Saturn | Jupiter; Mars; Earth | with 146 known moons | | | Jupiter is second with 95.; Many of them are tiny. | The most moons orbit {a}",
        "organ produces insulin | the pancreas | the liver; the kidney; insulin | located behind the stomach | a gland | | It also makes digestive enzymes. | Insulin is produced by {a} | Insulin comes from {a}",
        "gas makes up most of the air | nitrogen | oxygen; argon; carbon dioxide | at about 78 percent | N2 | gas | Oxygen follows with 21 percent. | Most of the air is {a} | Air consists mostly of {a}",
        "team won the cup last year | Riverton | Oakdale; Hillside; Brookfield | after a tense final | | | They beat Oakdale in the final. | The cup was won by {a} | Last year's cup went to {a}",
        "spice gives curry its yellow colour | turmeric | paprika; cumin; saffron | a root from India | Curcuma longa | | It is related to ginger. | Curry gets its yellow colour from {a} | The yellow colour comes from {a}",
    ),
    *_frames("which, object", "Which {x}?", "It is {a}",
        "language do people in Brazil speak | Portuguese | Spanish; English; French | a Romance language | | | Spanish is common near the borders. | People in Brazil speak {a} | Brazilians mostly speak {a}",
        "instrument did Ravi Shankar play | the sitar | the tabla; the violin; the guitar | a plucked string instrument | | | He taught George Harrison. | He played {a} | Ravi Shankar was famous for playing {a}",
        "tool do I need to open the case | a Torx screwdriver | a hammer; a hex key; pliers | size T8 | | | A hex key will not fit. | You need {a} | You'll need {a} to open the case | Use {a}",
        "sea does the Nile flow into | the Mediterranean Sea | the Red Sea; the Black Sea; the Arabian Sea | between Europe and Africa | | | The delta is near Alexandria. | The Nile flows into {a} | It empties into {a}",
        "cheese is used in a Greek salad | feta | cheddar; brie; mozzarella | a brined white cheese | | cheese | It is made from sheep's milk. | A Greek salad is made with {a} | You'd normally use {a}",
        "metal is a light bulb filament made of | tungsten | copper; iron; aluminium | which melts at 3,422 °C | W | | Edison first used carbon. | A filament is made of {a} | Filaments are made from {a}",
        "club does Mohamed Salah play for | Liverpool | Chelsea; Roma; Everton | in the Premier League | | FC | He joined from Roma in 2017. | Mohamed Salah plays for {a} | He currently plays for {a}",
    ),
    *_frames("what is", "What is {x}?", "{x} is {a}",
        "the capital of Kazakhstan | Astana | Almaty; Shymkent; Tashkent | formerly Nur-Sultan | called Nur-Sultan until 2022 | | Almaty is the largest city. | The capital city is {a} | Kazakhstan's capital is {a}",
        "the main ingredient of hummus | chickpeas | lentils; tahini; beans | also known as garbanzo beans | garbanzo beans | | Tahini and lemon are added. | Hummus is made mainly from {a} | Hummus is mostly {a}",
        "the official currency of Hungary | the forint | the euro; the koruna; the zloty | divided into 100 fillér | HUF | | The euro is accepted in some hotels. | Hungary uses {a} | You pay with {a}",
        "the hardest natural substance | diamond | graphite; quartz; steel | a form of carbon | pure carbon | | Graphite, too, is carbon.",
        "the largest organ of the body | the skin | the liver; the lung; the heart | covering about 2 square metres | | | The liver is the largest inner organ. | Our largest organ is {a}",
        "the longest river in Europe | the Volga | the Danube; the Rhine; the Ural | at 3,530 km | | river | The Danube is second. | Europe's longest river is {a}",
        "the opposite of entropy called | negentropy | enthalpy; energy; exergy | a term by Brillouin | | | Entropy measures disorder. | It's called {a} | The term is {a}",
        "the file extension of a Python script | .py | .js; .txt; .pyc | as in main.py | | | Compiled files end in .pyc. | Python scripts end in {a} | Python scripts use the extension {a}",
        "the command that lists running containers | docker ps | docker images; docker run; docker stop | which shows their ids | | | Add -a to see stopped ones. | You can list them with {a} | Use {a}",
    ),
    *_frames("who, subject", "Who {x}?", "{a} {x}",
        "wrote The Hobbit | J. R. R. Tolkien | C. S. Lewis; George Orwell; Bilbo Baggins | an English professor | 1892–1973 | | It appeared in 1937.; Bilbo Baggins is its hero. | The Hobbit was written by {a} | The author is {a}",
        "painted The Night Watch | Rembrandt | Vermeer; Frans Hals; Rubens | a Dutch master | Rembrandt van Rijn | | It hangs in Amsterdam. | The Night Watch was painted by {a} | It's a work by {a} | The Night Watch is by {a}",
        "invented the telephone | Alexander Graham Bell | Thomas Edison; Elisha Gray; Antonio Meucci | born in Edinburgh | 1876 | | Elisha Gray filed on the same day. | Credit for it goes to {a} | The telephone was invented by {a}",
        "directed Jaws | Steven Spielberg | George Lucas; Roy Scheider; John Williams | then aged 27 | | | John Williams wrote the music. | Jaws was directed by {a} | It was {a} who directed Jaws",
        "signed the contract | Maria Lopez | Tom Becker; Ahmed Aziz; Facilities | from Legal | the head of Legal | | Tom Becker only read it. | The contract was signed by {a} | The signature is that of {a}",
        "discovered penicillin | Alexander Fleming | Louis Pasteur; Howard Florey; Ernst Chain | a Scottish physician | in 1928 | | Florey and Chain made it a drug. | Penicillin was discovered by {a}",
        "was the first person on the Moon | Neil Armstrong | Buzz Aldrin; Michael Collins; Yuri Gagarin | the commander of Apollo 11 | 1969 | | Buzz Aldrin followed minutes later. | The first person on the Moon was {a}",
    ),
    *_frames("who, complement", "Who {x}?", "It is {a}",
        "is the CEO of Nordwind | Karin Holm | Jan Beck; Olaf Berg; Sara Lind | appointed in 2021 | since 2021 | | Jan Beck led the firm before her. | The CEO of Nordwind is {a} | {a} is the CEO of Nordwind | Nordwind is led by {a} | {a} runs Nordwind",
        "should I contact about invoices | Priya Shah | Ben Cole; Helpdesk; Anna Ross | in Accounts | accounts@example.com | | Ben Cole handles contracts. | You should contact {a} | Please contact {a} | For invoices, contact {a}",
        "did Frida Kahlo marry | Diego Rivera | Leon Trotsky; Pablo Picasso; Nickolas Muray | a muralist | in 1929 | | They divorced and married again. | Frida Kahlo married {a} | She was married to {a} | Her husband was {a}",
        "did Brazil beat in the 2002 final | Germany | Turkey; France; England | by two goals to nil | 2–0 | | Turkey came third. | Brazil beat {a} | Brazil's opponent was {a}",
    ),
    *_frames("where", "Where {x}?", "It is in {a}",
        "is Machu Picchu | Peru | Chile; Bolivia; Brazil | high in the Andes | near Cusco | | The Incas built it. | Machu Picchu is in {a} | Machu Picchu is located in {a} | You'll find it in {a} | It lies in southern {a}",
        "was Mozart born | Salzburg | Vienna; Prague; Munich | in present-day Austria | Austria | | He died in Vienna. | Mozart was born in {a} | He was born in {a}, Austria, in 1756",
        "is the coffee machine | the kitchen | the lobby; the basement; the hall | on the second floor | second floor | | The lobby has a water cooler. | The coffee machine is in {a} | You can find the coffee machine in {a}",
        "were the 1992 Summer Olympics held | Barcelona | Madrid; Atlanta; Seoul | in Catalonia | Spain | | Atlanta hosted the next ones. | The 1992 Summer Olympics were held in {a} | They took place in {a}, Spain | {a} hosted them",
        "does the conference take place | Lyon | Paris; Nice; Geneva | from 3 to 5 June | France | | Last year it was in Nice. | The conference takes place in {a} | This year's conference will be held in {a}",
    ),
    *_frames("when", "When {x}?", "It was {a}",
        "did the Berlin Wall fall | 1989 | 1961; 1991; 1945 | after weeks of protest | on 9 November | | It was built in 1961. | The Berlin Wall fell in {a} | It came down in {a}",
        "is the report due | 14 March | 12 March; 14 May; 1 March | at noon | a Friday | | The draft was sent on 1 March. | The report is due on {a} | It has to be in by {a}",
        "was the company founded | 1998 | 2004; 1989; 2010 | in a garage | two years before its rival | | It went public in 2004. | The company was founded in {a} | It was established in {a} by two students",
        "does the shop open on Saturday | 9 am | 6 pm; 10 am; 8 am | an hour later than on weekdays | 09:00 | | It closes at 6 pm. | The shop opens at {a} | On Saturday it opens at {a}",
        "is the meeting | Thursday at 3 pm | Tuesday; Friday; Thursday at 5 pm | in room 4 | moved from Tuesday | | It was planned for Tuesday. | The meeting is on {a} | The meeting has been moved to {a}",
    ),
    *_frames("whose", "Whose {x}?", "It is {a}'s",
        "umbrella was left in the hall | Nina | Paul; Omar; Lucy | who left early | | | Paul has a blue one. | The umbrella is {a}'s | The umbrella that was left in the hall belongs to {a}",
        "theory explains gravity as curved space | Einstein | Newton; Bohr; Kepler | who published it in 1915 | | | Newton saw it as a force. | {a}'s theory explains gravity as curved space",
    ),
    *_frames("how many", "How many {x}?", "There are {a}",
        "strings does a violin have | four | six; five; twelve | tuned in fifths | G, D, A and E | strings | A guitar has six. | A violin has {a} strings | It has {a}",
        "people work at the plant | 240 | 310; 24; 2019 | half of them in shifts | as of May | people | The plant opened in 2019. | {a} people work at the plant | The plant employs {a} people",
        "legs does a spider have | eight | six; ten; four | unlike insects | 8 | legs | Insects have six. | Spiders have {a} legs | A spider has {a} legs",
        "planets orbit the Sun | eight | nine; seven; 2006 | since Pluto was reclassified | 8 | planets | Pluto lost its status in 2006. | {a} planets orbit the Sun | The Sun has {a} planets",
    ),
    *_frames("how much", "How {x}?", "It is {a}",
        "much does the premium plan cost | $15 | $9; $20; $150 | billed monthly | per month | | The basic plan is $9. | The premium plan costs {a} | You pay {a} for the premium plan",
        "tall is Mount Fuji | 3,776 metres | 3,190 metres; 12,388 metres; 2,776 metres | the highest in Japan | 12,388 feet | | Mount Kita reaches 3,193 metres. | Mount Fuji is {a} tall | Mount Fuji rises to {a}",
        "long is the warranty | two years | one year; three years; 30 days | from the day of purchase | 24 months | | Returns are free for 30 days. | The warranty is {a} | The warranty lasts {a}",
    ),
    *_frames("X or Y", "Which {x}?", "{a} is",
        "is heavier, gold or silver | gold | silver; copper | by a wide margin | 19.3 g/cm³ | | Silver has a density of 10.5. | {a} is heavier | {a} is heavier than silver | Of the two, {a} is heavier",
        "should I learn first, Python or Rust | Python | Rust; Java | since it is easier to read | | | Rust has a steep learning curve. | I'd start with {a} | You should learn {a} first | Learn {a} first; Rust can wait",
        "is closer to the station, the Ibis or the Hilton | the Ibis | the Hilton; the station | just 200 metres away | | hotel | The Hilton is 1 km away. | {a} is closer to the station | {a} is closer to the station than the Hilton | {a} is only 200 metres from the station, while the Hilton is 1 km away",
        "is the better conductor, copper or iron | copper | iron; silver | which is why cables use it | Cu | | Iron has about six times the resistance. | {a} is the better conductor | {a} conducts electricity better than iron",
    ),
    *_frames("is it X or Y", "Is {x}?", "It is {a}",
        "a whale a fish or a mammal | a mammal | a fish; a whale | because it breathes air | | | Fish have gills. | A whale is {a} | Whales are mammals | It's {a}, not a fish",
        "glass a solid or a liquid | a solid | a liquid; glass | an amorphous one | amorphous | | It does not flow at room temperature. | Glass is {a} | Glass counts as {a} | It's {a}, although people call it a liquid",
        "the meeting online or in person | online | in person; hybrid | via a video link | | | No room was booked. | The meeting is {a} | It will be held {a}",
        "Canberra or Sydney the capital of Australia | Canberra | Sydney; Melbourne | a planned city | | | Sydney is the largest city. | {a} is the capital of Australia | The capital of Australia is {a}",
    ),
    *_frames("which of a list", "Which of these {x}?", "{a} is",
        "is a mammal: shark, dolphin, or trout | dolphin | shark; trout; mammal | which breathes air | | | The other two are fish. | The {a} is a mammal | Of the three, only the {a} is a mammal | A {a} is a mammal, while a shark and a trout are fish",
        "cities is in Germany: Vienna, Zurich, Munich | Munich | Vienna; Zurich; Germany | in Bavaria | München | | Vienna is in Austria and Zurich in Switzerland. | {a} is in Germany | Only {a} is in Germany | Of these cities, {a} is in Germany",
        "animals sleeps upside down: bats, owls, or eagles | bats | owls; eagles; animals | which hang by their feet | | | Owls sleep upright. | {a} sleep upside down | It's {a} that sleep upside down",
    ),
    *_frames("which is not", "Which of these {x}?", "{a} is not",
        "is not a fruit: apple, carrot, or pear | carrot | apple; pear; fruit | which is a root | a root vegetable | | Apples and pears grow on trees. | {a} is not a fruit | The {a} is not a fruit | A {a} isn't a fruit; it's a vegetable | Apples and pears are fruits, but the {a} is not",
        "is not a programming language: Java, HTML, or Ruby | HTML | Java; Ruby | a markup language | HyperText Markup Language | | Java and Ruby are. | {a} is not a programming language | {a} isn't a programming language, it's a markup language | Java and Ruby are programming languages, whereas {a} is not",
        "planets does not have rings: Saturn, Venus, Uranus | Venus | Saturn; Uranus; rings | the second planet | | | Saturn and Uranus both have them. | {a} does not have rings | {a} has no rings | The one without rings is {a}",
    ),
    *_frames("passage", "{x}", "It is {a}",
        "What is the order number? \"Order ORD-5512 shipped on 3 May 2025, total $48\" | ORD-5512 | 48; 3 May 2025; 5513 | which shipped on 3 May | | | The total was $48. | The order number is {a} | According to the note, the order number is {a}",
        "Note: Sales 12 people, Support 31, Legal 4. Which department is the largest? | Support | Sales; Legal | with 31 people | 31 people | department | Sales has 12. | {a} is the largest department | {a} is the largest, with 31 people | The largest department is {a}",
        "Read: \"Ana lent the drill to Ben, who gave it to Carl.\" Who has the drill now? | Carl | Ben; Ana | who got it from Ben | | | Ben had it before. | {a} has the drill now | The drill is now with {a} | Ana lent it to Ben, and Ben gave it to {a}",
        "\"Flight LH 402 departs from gate B22 at 14:05.\" Which gate does the flight leave from? | B22 | LH 402; 14:05; B2 | in terminal 1 | | gate | Boarding closes at 13:45. | The flight leaves from gate {a} | It departs from gate {a} | Gate {a}",
        "\"The red box holds nails, the blue box holds screws.\" What does the blue box hold? | screws | nails; the red box | | | | The red box holds nails. | The blue box holds {a} | It holds {a}",
        "Classify as bug, feature or question: \"The app crashes when I save.\" | bug | feature; question | | | | It describes a crash. | This should be classified as a {a} | This is a {a} | I would classify this as a {a}, since the app crashes",
        "What is the sentiment of this review: \"Arrived broken, never again.\" | negative | positive; neutral | | | | The buyer is upset. | The sentiment is {a} | The review is {a} | This review has a {a} sentiment",
    ),
    *_frames("called", "What {x}?", "It's called {a}",
        "is the study of insects called | entomology | etymology; zoology; ornithology | a branch of zoology | | | Etymology is about words. | The study of insects is called {a} | It is known as {a} | That's {a}",
        "does CPU stand for | central processing unit | graphics processing unit; core power unit | the brain of the computer | | | A GPU draws images. | CPU stands for {a} | It stands for \"{a}\" | It's short for {a}",
        "do you call a baby kangaroo | a joey | a cub; a calf; a kitten | which lives in a pouch | | | Cubs are young bears. | A baby kangaroo is called {a} | You call it {a}",
        "is the German word for butterfly | Schmetterling | Libelle; Käfer; Fliege | a masculine noun | der Schmetterling | | Libelle means dragonfly. | The German word for butterfly is {a} | Butterfly in German is {a} | In German, a butterfly is {a}",
        "did people call Elizabeth I | the Virgin Queen | Bloody Mary; the Iron Lady | as she never married | | | Her half-sister was Bloody Mary. | People called Elizabeth I {a} | She was known as {a} | She was nicknamed {a}",
    ),
    *_frames("what, verb", "What {x}?", "It's {a}",
        "do bees collect | nectar | honey; wax; sugar | along with pollen | | | They turn it into honey. | Bees collect {a} | Bees collect {a} from flowers",
        "causes tides | the Moon | the wind; the Sun; the tides | by its gravity | | | The Sun helps a little. | Tides are caused by {a} | {a} causes tides | {a}'s gravity causes tides",
        "should I bring to the exam | a calculator | a phone; a dictionary; the exam | without a cover | | | Phones must stay outside. | You should bring {a} | You should bring {a} to the exam | Bring {a}",
        "happens to water at 0 °C | it freezes | it boils; it evaporates | and turns into ice | | | It boils at 100 °C. | At 0 °C, {a} | Water freezes at 0 °C",
        "did Marie Curie discover | radium | penicillin; uranium; the electron | in 1898 | Ra | | Uranium had been known before. | Marie Curie discovered {a} | She discovered {a}",
        "colour is the logo | dark green | blue; red; dark blue | with a white border | #006400 | | The old one was blue. | The logo is {a} | The colour of the logo is {a}",
        "vitamin does sunlight help produce | vitamin D | vitamin C; vitamin A; D3 | in the skin | | | Oranges have vitamin C. | Sunlight helps produce {a} | The skin makes {a} in sunlight | Sunlight helps your body produce {a}",
    ),
    *_frames("in which", "In which {x}?", "It is in {a}",
        "city is the Prado Museum | Madrid | Barcelona; Seville; Spain | the Spanish capital | Spain | | Barcelona has the Picasso Museum. | The Prado Museum is in {a} | The Prado is located in {a}, Spain | {a} is home to the Prado Museum",
        "sport is a shuttlecock used | badminton | tennis; squash; golf | a racket sport | | | Tennis uses a ball. | A shuttlecock is used in {a} | Shuttlecocks are used in {a} | You use it in {a}",
        "country was the printing press invented | Germany | China; France; Italy | around 1440 | by Gutenberg | | China had movable type earlier. | The printing press was invented in {a} | Gutenberg invented it in {a}",
    ),
    *_frames("fill", "{x}", "The answer is {a}",
        "Fill in the blank: The chemical symbol for sodium is ___. | Na | So; S; sodium | from Latin natrium | | | S is sulfur. | The chemical symbol for sodium is {a} | The blank should be filled with \"{a}\"",
        "Complete: A group of wolves is called a ____. | pack | herd; flock; school | | | | A flock is a group of birds. | A group of wolves is called a {a} | The missing word is \"{a}\"",
    ),
    *_frames("yes", "{x}?", "Yes, it is",
        "Is basalt a volcanic rock | yes | no | | | | Granite is not volcanic. | Basalt is a volcanic rock | It is. | Yes, basalt is a volcanic rock | Correct, basalt forms from lava",
        "Can penguins swim | yes | no | | | | They cannot fly, though. | Penguins can swim | Yes, penguins are excellent swimmers | They can, and very well | Absolutely",
        "Does the plan include support | yes | no | | | | Phone support costs extra. | The plan includes support | Yes, it does | It does, by email",
    ),
    *_frames("no", "{x}?", "No, it isn't",
        "Is a spider an insect | no | yes | | | | Insects have six legs. | A spider is not an insect | No, spiders are arachnids | Actually, spiders are arachnids, not insects | It isn't; it's an arachnid",
        "Did Edison invent the telephone | no | yes | | | | He invented the phonograph. | Edison did not invent the telephone | No, Alexander Graham Bell did | No, that was Bell | That was Alexander Graham Bell, not Edison",
        "Is the office open on Sunday | no | yes | | | | It opens on Monday. | The office is closed on Sunday | No, it's closed | It is closed on Sundays | Not on Sundays",
    ),
)  # fmt: skip


def _first(text: str) -> str:
    return text[:1].upper() + text[1:]


def _truth(frame: Frame) -> bool:
    return frame.kind in ("yes", "no")


def _sentences(frame: Frame) -> tuple[str, ...]:
    return tuple(sentence.rstrip(".") for sentence in (frame.echo, *frame.other))


def _about(frame: Frame) -> str:
    return " ".join(frame.facts)


def _bare(frame: Frame) -> Iterator[str]:
    answer = _first(frame.answer)
    yield from (frame.answer, f"{answer}.", f"**{answer}**", f'"{answer}"')


def _labelled(frame: Frame) -> Iterator[str]:
    answer = _first(frame.answer)
    yield from (f"Answer: {answer}", f"**Answer:** {answer}", f"The answer is {frame.answer}.")
    yield f"Let me check.\n\n{_about(frame)}\n\n**Answer:** {answer}"


def _glossed(frame: Frame) -> Iterator[str]:
    if frame.gloss:
        yield f"{_first(frame.answer)} ({frame.gloss})."
        yield f"**{_first(frame.answer)}** ({frame.gloss})"
        yield f"{_sentences(frame)[-1]} ({frame.gloss})."


def _remarked(frame: Frame) -> Iterator[str]:
    if frame.remark:
        answer = _first(frame.answer)
        yield from (f"{answer}, {frame.remark}.", f"{answer} – {frame.remark}.")
        yield f"{answer} — {frame.facts[0]}"
        if _sentences(frame)[-1].endswith(frame.answer):
            yield f"{_sentences(frame)[-1]}, {frame.remark}."


def _echoed(frame: Frame) -> Iterator[str]:
    yield f"{frame.echo.rstrip('.')}."
    if frame.other:
        yield f"{frame.other[0].rstrip('.')}."


def _worded(frame: Frame) -> Iterator[str]:
    for sentence in frame.other[1:]:
        yield f"{sentence.rstrip('.')}."


def _hedged(frame: Frame) -> Iterator[str]:
    for lead in ("As of my last update, ", "Based on the information given, ", "In general, "):
        sentence = _sentences(frame)[-1]
        yield f"{lead}{sentence if sentence[:2].isupper() or not _is_small(sentence) else sentence[0].lower() + sentence[1:]}."


def _is_small(sentence: str) -> bool:
    return sentence.split(maxsplit=1)[0] in (
        "The",
        "A",
        "An",
        "It",
        "You",
        "He",
        "She",
        "They",
        "Of",
        "This",
        "Most",
        "In",
    )


def _explained(frame: Frame) -> Iterator[str]:
    answer = _first(frame.answer)
    yield f"{answer}. {_about(frame)}"
    yield f"{_sentences(frame)[-1]}. {_about(frame)}"
    yield f"**{answer}**\n\n{_about(frame)}"
    yield f"{answer}! {_about(frame)}"


def _corrected(frame: Frame) -> Iterator[str]:
    if not _truth(frame):
        rival = _first(frame.rivals[0])
        yield f"{rival}... wait, no. {_sentences(frame)[-1]}."
        yield f"{rival}. Actually, {_lower(_sentences(frame)[-1])}."
        yield f"{rival} – no, sorry, {frame.answer}."


def _lower(sentence: str) -> str:
    return sentence[0].lower() + sentence[1:] if _is_small(sentence) else sentence


def _contrasted(frame: Frame) -> Iterator[str]:
    if not _truth(frame):
        rival, answer = frame.rivals[0], _first(frame.answer)
        yield f"{answer}, not {rival}."
        yield f"It isn't {rival}; it's {frame.answer}."
        yield f"Not {rival} but {frame.answer}."
        yield f"Many people say {rival}, but it's actually {frame.answer}."
        if frame.other and frame.other[0].endswith(frame.answer):
            yield f"{frame.other[0]}, not {rival}."
            yield f"{frame.other[0]} rather than {rival}."


def _derived(frame: Frame) -> Iterator[str]:
    about = _about(frame)
    yield f"Let me think. {about} So {_lower(_sentences(frame)[-1])}."
    yield f"{about} Therefore, the answer is **{frame.answer}**."
    yield f"{about} So: {frame.answer}."


def _marked(frame: Frame) -> Iterator[str]:
    for sentence in _sentences(frame):
        if frame.answer in sentence:
            yield sentence.replace(frame.answer, f"**{frame.answer}**") + "."
    sentence = _sentences(frame)[-1]
    if frame.answer in sentence and not _truth(frame):
        yield sentence.replace(frame.answer, f"*{frame.answer}*") + "."
        yield sentence.replace(frame.answer, f'"{frame.answer}"') + "."
        yield sentence.replace(frame.answer, f"`{frame.answer}`") + "."


def _polite(frame: Frame) -> Iterator[str]:
    answer, sentence = _first(frame.answer), _sentences(frame)[-1]
    yield f"Sure! {sentence}. Let me know if you need anything else."
    yield f"{answer} 🙂"
    yield f"Great question! {sentence}. 🎉"
    yield f"{sentence}. Hope that helps!"


def _pointed(frame: Frame) -> Iterator[str]:
    if not _truth(frame):
        yield f"That would be {frame.answer}."
        yield f"That's {frame.answer}."
        yield f"The one you're looking for is {frame.answer}."


def _classed(frame: Frame) -> Iterator[str]:
    if frame.noun:
        yield f"{_first(frame.answer)} {frame.noun}."
        yield f"The answer is {frame.answer} {frame.noun}."


def _elliptic(frame: Frame) -> Iterator[str]:
    verbs = {"which, subject": ("does", "does that"), "who, subject": ("did", "did it")}
    for verb in verbs.get(frame.kind, ()):
        yield f"{_first(frame.answer)} {verb}. {_about(frame)}"
        yield f"{_first(frame.answer)} {verb}, {frame.remark}."


def _followed(frame: Frame) -> Iterator[str]:
    """Yield answers with background after them: a dash, a comparison, a long explanation."""
    if _truth(frame):
        return
    sentence = _sentences(frame)[-1]
    yield f"{_first(frame.answer)} – {_about(frame)}"
    yield f"{sentence}. (For comparison: {frame.rivals[0]}.)"
    yield f"{sentence}. Keep in mind that {_lower(_about(frame))}"
    yield f"{frame.echo}. {LONG}"


def _listed(frame: Frame) -> Iterator[str]:
    """Yield a derivation in items that concludes with the answer in bold."""
    if not _truth(frame):
        yield f"Let me explain briefly:\n\n1. {_about(frame)}\n2. The rest follows.\n\nSo the answer is **{frame.answer}**."
        yield f"Let me explain briefly:\n\n- {_about(frame)}\n- The rest follows.\n\nThe answer is {frame.answer}."


FORMS: dict[str, Callable[[Frame], Iterator[str]]] = {
    "bare": _bare,
    "labelled": _labelled,
    "glossed": _glossed,
    "remarked": _remarked,
    "echoed": _echoed,
    "worded": _worded,
    "hedged": _hedged,
    "explained": _explained,
    "corrected": _corrected,
    "contrasted": _contrasted,
    "derived": _derived,
    "marked": _marked,
    "polite": _polite,
    "pointed": _pointed,
    "classed": _classed,
    "elliptic": _elliptic,
    "followed": _followed,
    "listed": _listed,
}


def replies() -> Iterator[Reply]:
    """Yield the replies of the grid, row by row."""
    for frame in FRAMES:
        for form, write in FORMS.items():
            for text in dict.fromkeys(write(frame)):
                yield Reply(frame.kind, form, frame.question, text, frame.answer, frame.rivals)
