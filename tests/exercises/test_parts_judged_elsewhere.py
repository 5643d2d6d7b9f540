"""BahdanauDecoderStep uses the learner's own AdditiveAttention, and a fault of that one costs no marks here."""

import pytest
import torch
from notebook_cells import by_grade_id
from torch import nn

from autograder.judging.catalogue import all_exercises
from autograder.judging.judge import judge
from autograder.judging.trial import Trial
from autograder.learner.calls import Call
from autograder.learner.runner import run
from autograder.learner.substitute import SubstituteAttention
from autograder.reference import bahdanau
from autograder.right_answers import right_answers

ATTENTION, STEP = all_exercises()["AdditiveAttention"], all_exercises()["BahdanauDecoderStep"]


class Raises(bahdanau.AdditiveAttention):
    def forward(self, state, encoder_states, mask=None):
        raise ValueError("no")


class Stub(bahdanau.AdditiveAttention):
    def forward(self, state, encoder_states, mask=None):
        raise NotImplementedError


class NothingWritten(nn.Module):
    def __init__(self, decoder_dim, encoder_dim, attention_dim):
        raise NotImplementedError("the first line of the released stub")


class Detached(bahdanau.AdditiveAttention):
    def forward(self, state, encoder_states, mask=None):
        context, weights = super().forward(state, encoder_states, mask)
        return context.detach(), weights


class Uniform(bahdanau.AdditiveAttention):
    def forward(self, state, encoder_states, mask=None):
        weights = torch.full(encoder_states.shape[:2], 1 / encoder_states.size(1), dtype=state.dtype)
        return bahdanau.context_vector(weights, encoder_states), weights


class OtherNames(nn.Module):
    def __init__(self, decoder_dim, encoder_dim, attention_dim):
        super().__init__()
        self.query = nn.Linear(decoder_dim, attention_dim, bias=False)
        self.key = nn.Linear(encoder_dim, attention_dim, bias=False)
        self.score = nn.Linear(attention_dim, 1, bias=False)

    def forward(self, state, encoder_states, mask=None):
        scores = self.score(torch.tanh(self.query(state).unsqueeze(1) + self.key(encoder_states))).squeeze(-1)
        weights = torch.softmax(scores, -1) if mask is None else bahdanau.masked_weights(scores, mask)
        return bahdanau.context_vector(weights, encoder_states), weights


class StateChanged(bahdanau.AdditiveAttention):
    def forward(self, state, encoder_states, mask=None):
        return super().forward(state.data.add_(1), encoder_states, mask)


class Dropout(bahdanau.AdditiveAttention):
    def forward(self, state, encoder_states, mask=None):
        context, weights = super().forward(state, encoder_states, mask)
        return nn.functional.dropout(context, 0.5, self.training), weights


class SinglePrecision(bahdanau.AdditiveAttention):
    def forward(self, state, encoder_states, mask=None):
        context, weights = super().forward(state, encoder_states, mask)
        return context.float().to(state.dtype), weights


class OffLimits(bahdanau.AdditiveAttention):
    def forward(self, state, encoder_states, mask=None):
        nn.functional.scaled_dot_product_attention(encoder_states, encoder_states, encoder_states)
        return super().forward(state, encoder_states, mask)


class NotANumber(bahdanau.AdditiveAttention):
    def forward(self, state, encoder_states, mask=None):
        context, weights = super().forward(state, encoder_states, mask)
        return context / 0 * 0, weights


WRONG = [Raises, Stub, NothingWritten, Detached, Uniform, OtherNames, StateChanged, Dropout, SinglePrecision,
         OffLimits, NotANumber, *(m.implementation for m in ATTENTION.misconceptions)]


def right_step(attention):
    """The solution's step in a namespace of its own, as in a notebook, where AdditiveAttention is `attention`."""
    names = {"nn": nn, "torch": torch, "AdditiveAttention": attention}
    exec(by_grade_id("solutions", "02_bahdanau")["BahdanauDecoderStep"].source, names)
    return names["BahdanauDecoderStep"]


def enclosed_step(attention):
    """A right step that holds its attention without the name of its class."""
    class BahdanauDecoderStep(nn.Module):
        def __init__(self, vocab_size, embed_dim, hidden_dim, encoder_dim, attention_dim):
            super().__init__()
            self.embedding = nn.Embedding(vocab_size, embed_dim)
            self.attention = attention(hidden_dim, encoder_dim, attention_dim)
            self.cell = nn.GRUCell(encoder_dim + embed_dim, hidden_dim)
            self.out = nn.Linear(hidden_dim, vocab_size)

        def forward(self, token, state, encoder_states, mask=None):
            context, weights = self.attention(state, encoder_states, mask)
            state = self.cell(torch.cat((context, self.embedding(token)), -1), state)
            return self.out(state), state, weights

    return BahdanauDecoderStep


def around(step, attention):
    """A step of ours, such as a misconception, that holds another attention."""
    class Around(step):
        def __init__(self, vocab_size, embed_dim, hidden_dim, encoder_dim, attention_dim):
            super().__init__(vocab_size, embed_dim, hidden_dim, encoder_dim, attention_dim)
            self.attention = attention(hidden_dim, encoder_dim, attention_dim)

    return Around


def lost(report):
    return [(outcome.criterion, outcome.message) for outcome in report.outcomes if outcome.status != "passed"]


@pytest.mark.parametrize("seed", [None, 0])
@pytest.mark.parametrize("attention", WRONG)
def test_a_wrong_attention_costs_marks_where_it_is_asked_for_and_only_there(attention, seed):
    assert lost(judge(attention, seed=seed, exercise=ATTENTION.name))
    assert lost(judge(right_step(attention), seed=seed)) == []


@pytest.mark.parametrize("attention", [wrong for wrong in WRONG if wrong not in (NothingWritten, OtherNames)])
def test_nor_where_the_step_holds_it_in_another_way(attention):
    assert lost(judge(enclosed_step(attention))) == []


class WeightsFirst(bahdanau.AdditiveAttention):
    def forward(self, state, encoder_states, mask=None):
        return super().forward(state, encoder_states, mask)[::-1]


class ByName(bahdanau.AdditiveAttention):
    def forward(self, state, encoder_states, mask=None):
        context, weights = super().forward(state, encoder_states, mask)
        return {"weights": weights, "context": context}


class Unusable(bahdanau.AdditiveAttention):
    """Its step takes the layers and does the rest itself."""

    def forward(self, state, encoder_states, mask=None):
        raise NotImplementedError

    def look(self, *args):
        return super().forward(*args)


KNOWN = {WeightsFirst: lambda attention, *args: attention(*args)[::-1],
         ByName: lambda attention, *args: (attention(*args)["context"], attention(*args)["weights"]),
         Unusable: lambda attention, *args: attention.look(*args)}


@pytest.mark.parametrize("attention", KNOWN)
def test_a_step_that_knows_the_quirks_of_its_attention_is_right(attention):
    class BahdanauDecoderStep(enclosed_step(attention)):
        def forward(self, token, state, encoder_states, mask=None):
            context, weights = KNOWN[attention](self.attention, state, encoder_states, mask)
            state = self.cell(torch.cat([context, self.embedding(token)], dim=-1), state)
            return self.out(state), state, weights

    assert lost(judge(attention, exercise=ATTENTION.name))
    assert lost(judge(BahdanauDecoderStep)) == []


@pytest.mark.parametrize("attention", right_answers(ATTENTION.name))
def test_a_right_attention_stays_where_it_is(attention):
    asked = []

    def answer(call, seed):
        asked.append(call)
        return run(right_step(attention), call, seed)

    for criterion in STEP.criteria:
        criterion.check(Trial(STEP, criterion.name, answer, 3, False))
    assert {call.part for call in asked} == {"", "attention"} and all(call.substitute is None for call in asked)


@pytest.mark.parametrize("attention", [bahdanau.AdditiveAttention, Uniform, Raises, OtherNames])
@pytest.mark.parametrize("mistake", STEP.misconceptions, ids=lambda m: m.name)
def test_a_wrong_step_has_its_name_whatever_it_looks_through(mistake, attention):
    report = judge(around(mistake.implementation, attention), seed=1, exercise=STEP.name)
    assert report.score < report.points and not report.needs_a_person
    if attention is not OtherNames:  # an attention that does not even look like one is left in such a step
        assert report.diagnoses == (mistake.name,)


@pytest.mark.parametrize("attention", [bahdanau.AdditiveAttention, Uniform])
def test_an_attention_of_the_wrong_sizes_is_the_steps_own_fault(attention):
    def swapped(decoder_dim, encoder_dim, attention_dim):
        return attention(encoder_dim, decoder_dim, attention_dim)

    report = judge(enclosed_step(swapped))
    assert report.score == 0 and not report.needs_a_person


def test_a_step_without_a_part_called_attention_is_told_so():
    class Elsewhere(enclosed_step(Uniform)):
        def __init__(self, *sizes):
            super().__init__(*sizes)
            self.look = self.attention
            del self.attention

        def forward(self, token, state, encoder_states, mask=None):
            context, weights = self.look(state, encoder_states, mask)
            state = self.cell(torch.cat((context, self.embedding(token)), -1), state)
            return self.out(state), state, weights

    report = judge(Elsewhere, exercise=STEP.name)
    assert report.score == 0 and "`look.W_s.weight`" in report.outcomes[0].message


def test_a_step_that_is_not_written_is_not_attempted():
    class NotWritten(nn.Module):
        def __init__(self, vocab_size, embed_dim, hidden_dim, encoder_dim, attention_dim):
            super().__init__()
            raise NotImplementedError

    assert not judge(NotWritten, exercise=STEP.name).attempted


@pytest.mark.parametrize("defined", [True, False])
def test_the_class_is_back_after_the_step_was_built(defined):
    step = right_step(Uniform)
    names = step.__init__.__globals__
    if not defined:
        del names["AdditiveAttention"]
    before = dict(names)
    call = Call((torch.tensor([1]), torch.zeros(1, 4), torch.ones(1, 6, 5)), init=(7, 3, 4, 5, 2), substitute=(4, 5, 2))
    assert run(step, call).status == "returned" and names == before


def test_our_attention_answers_no_exercise():
    assert judge(SubstituteAttention, exercise=ATTENTION.name).score == 0
