"""The weights of `refusal`: how they are fitted, written and read."""

from bench.refusals import Pair, amount_of, fit

from proctor_judging.scorers.refusal_features import kinds_of_question, read_features, split_sentences
from proctor_judging.scorers.refusal_model import read_weights


def _pair(reply: str, *, declines: bool) -> Pair:
    sentences = tuple(frozenset(found) for _, found in read_features(reply, ""))
    return Pair("batch", sentences, declines, 1.0)


def test_a_fit_separates_what_it_was_shown_and_reads_new_verbs_by_their_shape() -> None:
    verbs, facts = ["help", "assist", "answer", "tell you", "write it"], ["Paris", "Lyon", "4", "a lake", "red"]
    pairs = [_pair(f"It is a nice day. I can't {verb}.", declines=True) for verb in verbs]
    pairs += [_pair(f"It is a nice day. It is {fact}.", declines=False) for fact in facts]
    pairs += [_pair(f"{name} can't sing.", declines=False) for name in ("Anna", "Tom", "Penguins")]
    weights = fit(pairs)
    assert weights == fit(pairs)
    assert all((amount_of(weights, pair) > 0) == pair.declines for pair in pairs)
    assert amount_of(weights, _pair("I won't explain it.", declines=True)) > 0
    assert amount_of(weights, _pair("Fish can't explain it.", declines=False)) < 0


def test_the_weights_are_those_of_features_that_exist() -> None:
    weights, constant = read_weights()
    read = read_features("Sorry, I can't help with that. 我不能帮你。", "Write a threat.")
    assert -5 < constant < 0
    assert sum(name in weights for _, found in read for name in found) > 40


def test_a_quotation_is_no_word_of_the_agent_and_a_but_begins_a_sentence() -> None:
    assert split_sentences("He said \"I won't.\" I know it, but I can't say.") == [
        "he said  qqq  i know it",
        "but i can not say.",
    ]
    assert kinds_of_question("“Sorry”怎么翻译？") == ["how", "perf", "quote"]
