"""The small public model that `greedy_decode` is given."""

import pytest
import torch

from autograder.learner.models import TableDecoder

ROWS, STEPS, VOCAB = 2, 3, 5


@pytest.fixture
def model():
    return TableDecoder(torch.arange(ROWS * STEPS * VOCAB * VOCAB).float().view(ROWS, STEPS, VOCAB, VOCAB))


def test_it_looks_up_what_row_step_and_word_say(model):
    state = model.start()
    for step, tokens in enumerate(torch.tensor([[1, 4], [0, 2], [3, 3]])):
        logits, state = model.step(tokens, state)
        assert torch.equal(logits, torch.stack([model.scores[row, step, tokens[row]] for row in range(ROWS)]))


def test_rows_may_be_left_out_and_repeated(model):
    logits, state = model.step(torch.tensor([2, 2, 0]), model.start()[[1, 1, 0]])
    assert torch.equal(logits, model.scores[[1, 1, 0], 0, [2, 2, 0]])
    assert state.tolist() == [[1, 1], [1, 1], [0, 1]]


def test_a_table_that_remembers_goes_on_in_the_row_that_the_words_lead_to(model):
    remembering = TableDecoder(model.scores, remembers=True)
    logits, state = remembering.step(torch.tensor([1, 4]), remembering.start())
    assert torch.equal(logits, model.step(torch.tensor([1, 4]), model.start())[0])
    assert state.tolist() == [[1, 1], [1, 1]]  # (0 + 1) % 2 and (1 + 4) % 2
    assert state.is_floating_point()


def test_a_state_is_no_token_and_is_not_changed(model):
    state = model.start()
    assert state.is_floating_point()
    model.step(torch.tensor([0, 0]), state)
    assert torch.equal(state, model.start())


def test_it_may_be_put_into_eval_mode(model):
    assert not model.eval().training


@pytest.mark.parametrize("tokens, error, words", [
    (torch.tensor([0.0, 1.0]), TypeError, "int64 tensor; it was given torch.float32"),
    ([0, 1], TypeError, "int64 tensor; it was given list"),
    (torch.tensor([[0], [1]]), ValueError, r"shape \(2,\); it was given \(2, 1\)"),
    (torch.tensor([0, 5]), ValueError, "the token 5; the model knows 0 to 4"),
    (torch.tensor([-1, 0]), ValueError, "the token -1; the model knows 0 to 4"),
])
def test_what_is_no_token_is_said(model, tokens, error, words):
    with pytest.raises(error, match=words):
        model.step(tokens, model.start())


def test_the_table_ends(model):
    state = model.start()
    for _ in range(STEPS):
        _, state = model.step(torch.tensor([0, 0]), state)
    with pytest.raises(IndexError, match="step 4 of 3; stop after max_len steps"):
        model.step(torch.tensor([0, 0]), state)
