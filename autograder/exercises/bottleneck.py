"""Chapter 01: a Seq2Seq with one vector in the middle. Contract of each exercise: see its reference."""

from dataclasses import replace

import torch

from autograder.judging.exercise import Exercise
from autograder.judging.inputs import ONE_POSITION, ONE_ROW, ONES, SMALL, Inputs
from autograder.judging.standard import add_standard_criteria
from autograder.judging.trial import Trial
from autograder.learner.calls import Call, Table
from autograder.reference import bottleneck

CHAPTER = "01_bottleneck"


# --- teacher_forcing_batch -------------------------------------------------------------------------------------

def _batch_case(given: Inputs) -> Call:
    """Ids that nobody would guess: bos, eos and pad are 20, 21 and 22 in an order of their own."""
    bos, eos, pad = (20 + int(i) for i in torch.randperm(3, generator=given.generator))
    lengths = {ONES: (1,), ONE_ROW: (3,), ONE_POSITION: (1, 1, 1), SMALL: (2, 1)}.get(given.size, (3, 6, 1, 4))
    return Call(([given.whole_numbers(0, 19, n).tolist() for n in lengths], bos, eos, pad))


teacher_forcing_batch = Exercise(
    "teacher_forcing_batch", CHAPTER, bottleneck.teacher_forcing_batch, _batch_case,
    returns=("decoder_input", "decoder_target"),
    hints=("Write down one sentence of two words by hand: what goes in at each step, and what should come out there?",
           "Input and target hold the same words, one step apart: the input starts with bos, the target ends with eos.",
           "Every row becomes as long as the longest sentence and one more; what is missing is pad, at the end.",
           "`[bos, *tokens] + [pad] * (width - len(tokens) - 1)`, and the same with eos for the target."))
add_standard_criteria(
    teacher_forcing_batch, values=2, arguments_unchanged=0.5, sizes_of_one=0.5,
    sentence="The input is [bos, t1 .. tn, pad ..] and the target [t1 .. tn, eos, pad ..], one row a sentence.")


@teacher_forcing_batch.criterion(points=1)
def equal_lengths(trial: Trial) -> None:
    """Where all sentences have the same length there is room for bos or eos, and no pad."""
    given = trial.inputs()
    trial.must_agree(Call((given.whole_numbers(0, 19, 3, 4).tolist(), 20, 22, 21)))


# --- masked_cross_entropy --------------------------------------------------------------------------------------

def _loss_case(given: Inputs, pad: int = 0) -> Call:
    """Every sentence ends where it likes, and the rest of its row is pad."""
    s = given.size
    target = given.whole_numbers(1, s.vocab - 1, s.heads, s.keys)
    for row, length in enumerate(torch.randperm(s.keys, generator=given.generator)[: s.heads] + 1):
        target[row, length:] = 0
    target = (target + pad) % s.vocab
    return Call((given.normal(s.heads, s.keys, s.vocab, scale=2.0), given.laid_out(target), pad))


masked_cross_entropy = Exercise(
    "masked_cross_entropy", CHAPTER, bottleneck.masked_cross_entropy, _loss_case, returns=("loss",),
    hints=("How many tokens are real? The mean runs over these, and over nothing else.",
           "`target != pad` is True for the real tokens; a tensor indexed with it keeps those alone.",
           "`F.cross_entropy` takes (n, vocab) and (n,); its `ignore_index` leaves one id out of sum and count.",
           "`F.cross_entropy(logits[real], target[real])` with `real = target != pad`."))
add_standard_criteria(
    masked_cross_entropy, values=3, gradients=0.5, double_precision=0.5, arguments_unchanged=0.5,
    any_memory_layout=0.5,
    sentence="The loss is the mean of -log softmax(logits)[target] over all tokens of the batch that are not pad.")


@masked_cross_entropy.criterion(points=0.5)
def pad_anywhere(trial: Trial) -> None:
    """Pad may be any id and stand anywhere, in front and in the middle too; a row may hold nothing else."""
    typical = trial.case()
    trial.must_agree(typical)  # first, because two mistakes that differ there may look alike here
    given = trial.inputs()
    logits, target, pad = _loss_case(given, pad=given.size.vocab - 3).args
    columns = torch.randperm(target.size(1), generator=given.generator)
    target = target[:, columns]
    target[(target != pad).sum(dim=1).argmax(), 0] = pad  # chance may have left every pad at the end
    target = torch.cat([target, torch.full_like(target[:1], pad)])
    logits = torch.cat([logits, given.normal(1, *logits.shape[1:])])
    trial.must_agree(Call((logits, target, pad)))
    logits, target, pad = typical.args
    trial.must_agree(Call((logits[:, :1], target[:, :1], pad)))  # sentences of one token, so no pad at all


@masked_cross_entropy.criterion(points=0.5)
def large_logits(trial: Trial) -> None:
    """Logits of +-10,000 give a finite loss that is right to rounding."""
    call = trial.case()
    trial.must_agree(call)  # first, because many mistakes look alike where one logit rules
    # Then all of them large and close together: there exp is infinite, and no share of a softmax is rounded to 0.
    for logits in (call.args[0] + 128, call.args[0] * (1e4 / call.args[0].abs().max())):
        trial.must_agree(replace(call, args=(logits, *call.args[1:])))


# --- Encoder ---------------------------------------------------------------------------------------------------

def _encoder_case(given: Inputs) -> Call:
    s = given.size
    lengths = torch.randperm(s.keys, generator=given.generator)[: s.heads] + 1
    if s.keys > 1:
        lengths = lengths.clamp(max=s.keys - 1)  # the width stays, even where no sentence fills it
    lengths = lengths.expand(s.heads).clone()  # where the width is 1, every row has one word
    weights = {"embedding.weight": given.normal(s.vocab, s.embed)} | gru_weights(given, "rnn", s.embed, s.d_k, "_l0")
    source = given.whole_numbers(0, s.vocab - 1, s.heads, s.keys)
    source[0, 0], source[-1, 0] = 0, s.vocab - 1  # a word whose embedding is frozen as `padding_idx` shows
    return Call((source, lengths), init=(s.vocab, s.embed, s.d_k), weights=weights)


def gru_weights(given: Inputs, name: str, inputs: int, hidden: int, ending: str = "") -> dict[str, torch.Tensor]:
    """Random weights for nn.GRU (ending "_l0") or nn.GRUCell, large enough to be felt, too small to saturate."""
    return {f"{name}.weight_ih{ending}": given.normal(3 * hidden, inputs, scale=inputs**-0.5),
            f"{name}.weight_hh{ending}": given.normal(3 * hidden, hidden, scale=hidden**-0.5),
            f"{name}.bias_ih{ending}": given.normal(3 * hidden, scale=0.3),
            f"{name}.bias_hh{ending}": given.normal(3 * hidden, scale=0.3)}


encoder = Exercise(
    "Encoder", CHAPTER, bottleneck.Encoder, _encoder_case, returns=("states", "final"),
    hints=("`nn.GRU(..., batch_first=True)` gives the state after every token. Which of them has read the whole "
           "sentence, and nothing else?",
           "Row b's last token stands at position lengths[b] - 1: take the state there, a different one in each row.",
           "`states[torch.arange(batch), lengths - 1]` picks one position a row.",
           "`torch.arange(width) < lengths.unsqueeze(1)` is True on real positions; `masked_fill` clears the others."))
add_standard_criteria(
    encoder, values=3, gradients=1, double_precision=0.5, arguments_unchanged=0.5, sizes_of_one=0.5,
    train_and_eval=0.5, sentence="With the same weights, the states and the final state equal those of a GRU that "
    "reads each sentence by itself.")


@encoder.criterion(points=1)
def padding_is_not_read(trial: Trial) -> None:
    """What stands behind a sentence's end changes nothing, and the states there are exactly zero."""
    call = trial.case()
    source, lengths = call.args
    behind = torch.arange(source.size(1)) >= lengths.unsqueeze(1)
    for filler in (source, torch.where(behind, trial.inputs().size.vocab - 1, source)):
        states, _ = trial.must_agree(replace(call, args=(filler, lengths))).output
        trial.require(bool((states[behind] == 0).all()), "Behind the end of a sentence your states are not exactly 0.")


@encoder.criterion(points=0.5)
def full_rows(trial: Trial) -> None:
    """It works where no sentence is padded, too."""
    call = trial.case()
    trial.must_agree(call)
    trial.must_agree(replace(call, args=(call.args[0], torch.full_like(call.args[1], call.args[0].size(1)))))


@encoder.criterion(points=0.5)
def any_order(trial: Trial) -> None:
    """The sentences of a batch stand in no order of length, and stay where they are."""
    call = trial.case()
    trial.must_agree(call)
    for order in ([2, 0, 1], [1, 2, 0]):
        trial.must_agree(replace(call, args=tuple(argument[order] for argument in call.args)))


# --- greedy_decode ---------------------------------------------------------------------------------------------
# The model is a table of logits, so it is plain which word wins at each step. Rows say eos when they are told to, and
# go on with other words after it.

BOS, EOS = 3, 5


def table(given: Inputs, ends: tuple[int, ...], steps: int, vocab: int = 9) -> Table:
    """Row r says eos at step ends[r] (counted from 0), whatever it was fed, and at no other of the `steps`."""
    scores = given.normal(len(ends), steps, vocab, vocab) + torch.arange(vocab) * 1e-3  # no two are equal
    scores[..., EOS] = -9.0
    for row, end in enumerate(ends):
        if end < steps:
            scores[row, end, :, EOS] = 9.0
    return Table(scores)


def decode_call(given: Inputs, ends: tuple[int, ...], steps: int) -> Call:
    """The table holds one step more than max_len: to ask for it and leave the answer out is not wrong."""
    start = torch.tensor([[row, 0.0] for row in range(len(ends))])
    return Call((table(given, ends, steps + 1), start, BOS, EOS, steps))


def _decode_case(given: Inputs) -> Call:
    ends, steps = {ONES: ((0,), 1), ONE_ROW: ((4,), 9), ONE_POSITION: ((0, 3, 0), 1)}.get(given.size, ((4, 1, 6), 9))
    return decode_call(given, ends, steps)


greedy_decode = Exercise(
    "greedy_decode", CHAPTER, bottleneck.greedy_decode, _decode_case, returns=("tokens",),
    hints=("What is the model fed at the first step, and what at the second?",
           "Start with a tensor of bos, one a row. In each step call `model.step`, take the argmax over the "
           "vocabulary, keep it, and feed it back together with the new state.",
           "Keep a boolean `finished`, one a row: once a row has said eos, only eos is written for it.",
           "The loop ends when all rows are finished or after max_len steps; `torch.stack(said, dim=1)` joins them."))
add_standard_criteria(
    greedy_decode, values=2.5, arguments_unchanged=0.5, sizes_of_one=0.5,
    sentence="Every word is the most probable one after the words that were chosen before it, eos fills the rest.")


@greedy_decode.criterion(points=1)
def rows_end_by_themselves(trial: Trial) -> None:
    """After its first eos a row holds eos only, while the others go on."""
    call = trial.case()
    tokens = trial.well_formed(call).output
    after = ((tokens == EOS).cumsum(dim=1) - (tokens == EOS).int()) > 0
    trial.require(bool((tokens[after] == EOS).all()), "Behind the eos of a row there are other tokens than eos.")
    trial.must_agree(call)


@greedy_decode.criterion(points=1)
def ends_with_the_last_row(trial: Trial) -> None:
    """The width ends with the column in which the last row finishes, be it the first."""
    trial.must_agree(decode_call(trial.inputs(), (4, 4, 4), 9))
    trial.must_agree(trial.case())  # before the short ones, where many mistakes look alike
    for name, ends in {"a": (0, 0), "b": (2, 0, 1), "c": (5, 7)}.items():
        trial.must_agree(decode_call(trial.inputs(name), ends, 9))


@greedy_decode.criterion(points=0.5)
def stops_at_max_len(trial: Trial) -> None:
    """After max_len steps it stops, whether or not every row has finished."""
    trial.must_agree(trial.case())  # first, as above
    for name, (ends, steps) in {"a": ((2, 9), 4), "b": ((9, 9), 1), "c": ((3, 4), 5)}.items():
        trial.must_agree(decode_call(trial.inputs(name), ends, steps))


# --- corpus_bleu -----------------------------------------------------------------------------------------------

def _bleu_case(given: Inputs) -> Call:
    """Hypotheses that share long stretches with their references; the first stutters; in sum they are too short."""
    references = given.words(9, 7, 11, 8)
    other = [references[0][:1] * 5, [], [], *given.words(1)]
    cuts = [given.whole_number(4, 5) for _ in references]
    hypotheses = [[*reference[:cut], *new, *reference[cut + 2:]]
                  for reference, new, cut in zip(references, other, cuts, strict=True)]
    return Call((hypotheses, references, 4))


corpus_bleu = Exercise(
    "corpus_bleu", CHAPTER, bottleneck.corpus_bleu, _bleu_case, returns=("the BLEU",), named_whole=True,
    off_limits=("sacrebleu",),
    hints=("Count first: how many n-grams of each hypothesis stand in its reference, each at most as often as there?",
           "`collections.Counter` counts, and `a & b` keeps for every n-gram the smaller of two counts.",
           "Add matches and totals of ALL pairs before you divide; one precision for each n from 1 to max_n.",
           "The geometric mean is exp of the mean of the logarithms; the penalty is exp(1 - r/c) where the hypotheses "
           "are shorter in sum, else 1; the result is times 100."))
add_standard_criteria(
    corpus_bleu, values=3, arguments_unchanged=0.5,
    sentence="100 times the brevity penalty times the geometric mean of the clipped n-gram precisions.")


@corpus_bleu.criterion(points=0.5)
def clipped(trial: Trial) -> None:
    """A word counts at most as often as it stands in the reference."""
    a, b, c = ([word] for word in "abc")
    trial.must_agree(Call(([a * 7 + b, [*"abcd"]], [b + a + c + a * 2, [*"abcd"]], 3)))
    trial.must_agree(Call(([[*"aaaa"]], [[*"aabc"]], 1)))


@corpus_bleu.criterion(points=0.5)
def brevity(trial: Trial) -> None:
    """Hypotheses that are too short in sum are punished, too long ones are not."""
    reference = [*"abcdefghi"]  # no word twice: this is about lengths alone
    short = trial.inputs().whole_number(5, 7)
    for hypothesis in (reference[:short], reference, [*reference[1:], "x", "y", "z"]):
        trial.must_agree(Call(([hypothesis], [reference])))  # max_n is 4 where nobody says anything else


@corpus_bleu.criterion(points=0.5)
def no_match_is_zero(trial: Trial) -> None:
    """0.0 where any order has no match, or no n-gram at all."""
    for hypothesis, reference, max_n in (("abcd", "efgh", 4), ("acbd", "abcd", 4), ("abc", "abc", 4), ("", "ab", 4),
                                         ("ab", "cd", 1), ("ba", "ab", 2)):
        trial.must_agree(Call(([[*hypothesis]], [[*reference]], max_n)))
    trial.must_agree(Call(([[*"abcd"]], [[*"abcd"]], 4)))  # a single n-gram that matches is enough


@corpus_bleu.criterion(points=0.5)
def pooled(trial: Trial) -> None:
    """Counts are added up over the corpus before anything is divided: a pair without a match is no zero."""
    (long,) = trial.inputs().words(12)
    trial.must_agree(Call(([long, ["f"], [*"abfff"]], [long, [*"gh"], [*"acbgg"]], 4)))


@corpus_bleu.criterion(points=0.5)
def any_order_n(trial: Trial) -> None:
    """max_n says up to which length n-grams count; they are made of words, as these are written."""
    hypotheses, references, _ = trial.case().args
    for n in (5, 3, 2, 1):
        trial.must_agree(Call((hypotheses, references, n)))
    trial.must_agree(Call(([["ab", "c"], [*"Abcd"]], [["a", "bc"], [*"abcd"]], 2)))
