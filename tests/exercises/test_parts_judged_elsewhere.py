"""BahdanauDecoderStep uses the learner's own AdditiveAttention, and a fault of that one costs no marks here."""

import pytest
import torch
from torch import nn

from autograder.judging.judge import judge
from autograder.reference import bahdanau


class WithoutTanh(bahdanau.AdditiveAttention):
    """Then the state only shifts all scores of a row, and the weights do not depend on it."""

    def forward(self, state, encoder_states, mask=None):
        scores = self.v(self.W_s(state).unsqueeze(1) + self.W_h(encoder_states)).squeeze(-1)
        weights = torch.softmax(scores, -1) if mask is None else bahdanau.masked_weights(scores, mask)
        return bahdanau.context_vector(weights, encoder_states), weights


class MaskForgotten(bahdanau.AdditiveAttention):
    def forward(self, state, encoder_states, mask=None):
        return super().forward(state, encoder_states)


class OverTheBatch(bahdanau.AdditiveAttention):
    def forward(self, state, encoder_states, mask=None):
        scores = self.v(torch.tanh(self.W_s(state).unsqueeze(1) + self.W_h(encoder_states))).squeeze(-1)
        weights = torch.softmax(scores, 0)
        return bahdanau.context_vector(weights, encoder_states), weights


class Detached(bahdanau.AdditiveAttention):
    def forward(self, state, encoder_states, mask=None):
        context, weights = super().forward(state, encoder_states, mask)
        return context.detach(), weights


class KeysIgnored(bahdanau.AdditiveAttention):
    def forward(self, state, encoder_states, mask=None):
        weights = torch.full(encoder_states.shape[:2], 1 / encoder_states.size(1), dtype=state.dtype)
        return bahdanau.context_vector(weights, encoder_states), weights


WRONG = [WithoutTanh, MaskForgotten, OverTheBatch, Detached, KeysIgnored]


def right_step(attention):
    """The step as a learner would write it, around this attention."""
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


def wrong_step(attention):
    """Looks with the new state."""
    class BahdanauDecoderStep(right_step(attention)):
        def forward(self, token, state, encoder_states, mask=None):
            context, _ = self.attention(state, encoder_states, mask)
            state = self.cell(torch.cat((context, self.embedding(token)), -1), state)
            _, weights = self.attention(state, encoder_states, mask)
            return self.out(state), state, weights

    return BahdanauDecoderStep


@pytest.mark.parametrize("seed", [None, 0, 1])
@pytest.mark.parametrize("attention", WRONG)
def test_a_wrong_attention_costs_marks_where_it_is_asked_for_and_only_there(attention, seed):
    own = judge(attention, seed=seed, exercise="AdditiveAttention")
    step = judge(right_step(attention), seed=seed)
    assert own.score < own.points
    assert [(o.criterion, o.message) for o in step.outcomes if o.status != "passed"] == []


@pytest.mark.parametrize("seed", [None, 0, 1])
@pytest.mark.parametrize("attention", [bahdanau.AdditiveAttention, MaskForgotten, OverTheBatch, Detached])
def test_a_wrong_step_is_wrong_whatever_it_looks_through(attention, seed):
    report = judge(wrong_step(attention), seed=seed)
    assert report.score < report.points / 2 and not report.needs_a_person


def test_an_attention_that_fails_is_the_learners_own_error():
    class Broken(bahdanau.AdditiveAttention):
        def forward(self, state, encoder_states, mask=None):
            raise ValueError("no")

    report = judge(right_step(Broken))
    assert report.score == 0 and all("ValueError" in outcome.message for outcome in report.outcomes)


def test_an_attention_that_is_not_written_yet_is_not_attempted():
    class Stub(bahdanau.AdditiveAttention):
        def forward(self, state, encoder_states, mask=None):
            raise NotImplementedError

    assert not judge(right_step(Stub)).attempted
