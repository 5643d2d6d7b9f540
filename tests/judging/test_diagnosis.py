"""What counts as a proof that an answer is a misconception, and what a report says where none is named."""

from functools import partial

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from autograder import judge
from autograder.judging.catalogue import all_exercises
from autograder.judging.exercise import Exercise
from autograder.judging.judge import judge_answer
from autograder.judging.standard import add_standard_criteria
from autograder.judging.trial import Trial
from autograder.learner.calls import Call, tensors_in
from autograder.learner.runner import run
from autograder.reference import luong, multi_head, positional_encoding, training, transformer

EXERCISES = all_exercises()


def judged(answer, exercise):
    return judge_answer(exercise, lambda call, seed: run(answer, call, seed))


def sums() -> Exercise:
    """x plus y, of (batch, 1) and (batch, keys); the misconception turns x around."""
    exercise = Exercise(
        "sums", "00_test", lambda x, y: x + y,
        lambda given: Call((given.normal(given.size.batch, 1), given.normal(given.size.batch, given.size.keys))),
        returns=("z",), hints=("h",))
    add_standard_criteria(exercise, values=1, double_precision=1)

    @exercise.misconception(see="a#b")
    def turned(x, y):
        """You turn x around."""
        return x.flatten() + y

    return exercise


def test_the_same_exception_is_a_proof_only_where_values_agree_too():
    assert judged(lambda x, y: x.squeeze() + y, sums()).diagnoses == ("turned",)
    other = judged(lambda x, y: 2 * x.squeeze() + y, sums())
    assert "must match the size" in other.outcomes[0].message and other.diagnoses == ()


def test_a_mistake_that_would_lose_what_the_answer_has_is_not_named():
    exercise = sums()

    @exercise.criterion(points=1)
    def with_zeros(trial):
        """Zeros stay zeros."""
        trial.must_agree(Call((torch.zeros(2, 1), torch.zeros(2, 2))))

    @exercise.criterion(points=1)
    def of_ones(trial):
        """One and one make two."""
        trial.must_agree(Call((torch.ones(2, 1), torch.ones(2, 2))))

    @exercise.misconception(see="a#b")
    def one_too_many(x, y):
        """You add one."""
        return x + y + 1

    report = judged(lambda x, y: x + y + (x == 1).to(x.dtype), exercise)
    assert [o.status for o in report.outcomes] == ["passed", "passed", "passed", "failed"]
    assert report.diagnoses == ()


@pytest.mark.parametrize("name", EXERCISES)
def test_every_exercise_has_a_case_where_all_shapes_fit(name):
    trial = Trial(EXERCISES[name], "even sizes", partial(run, EXERCISES[name].reference), 3, False)
    assert trial.ask_where_shapes_fit().status == "returned"
    assert all(isinstance(tensor, torch.Tensor) for tensor in tensors_in(trial.calls[0].args))


@pytest.mark.parametrize("name", EXERCISES)
def test_a_result_is_not_called_like_an_argument(name):
    """A report shows both beside each other."""
    exercise = EXERCISES[name]
    assert not set(exercise.arguments) & set(exercise.returns)
    assert all(not set(exercise.arguments_of(part)) & set(names) for part, names in exercise.part_returns.items())


ALONE = "In train mode with dropout 0: Two calls gave different results, so some part drops at a rate of its own; " \
        "pass `dropout` on to every part."


def with_a_rate(reference):
    """A module that drops a tenth of its result in train mode, whatever its rate; whose weights start at random."""
    class Dropping(reference):
        def __init__(self, *sizes):
            super().__init__(*sizes)
            self.own = nn.Dropout(0.1)

        def forward(self, *args):
            result = super().forward(*args)
            return (self.own(result[0]), *result[1:]) if isinstance(result, tuple) else self.own(result)

    return Dropping


@pytest.mark.parametrize("name", ["MultiHeadAttention", "FeedForward", "EncoderLayer", "DecoderLayer", "Transformer",
                                  "PreLNEncoderLayer"])
def test_a_part_with_a_rate_of_its_own_is_told(name):
    report = judge(with_a_rate(EXERCISES[name].reference), exercise=name)
    assert [o.message for o in report.outcomes if o.status == "failed"] == [ALONE]


IN_EVAL_MODE = "In eval mode two calls with the same input gave different results, so dropout, or other randomness, " \
               "acts where it should not: `F.dropout` needs `training=self.training`."


def with_dropout_in_eval_mode(reference):
    class Dropping(reference):
        def forward(self, *args):
            result = super().forward(*args)
            first, *rest = result if isinstance(result, tuple) else (result,)
            return (F.dropout(first, 0.4), *rest) if rest else F.dropout(first, 0.4)

    return Dropping


@pytest.mark.parametrize("seed", [None, 3])
@pytest.mark.parametrize("name", [name for name, exercise in EXERCISES.items() if isinstance(exercise.reference, type)])
def test_dropout_in_eval_mode_is_told_and_told_once(name, seed):
    messages = [o.message for o in judge(with_dropout_in_eval_mode(EXERCISES[name].reference), seed, name).outcomes]
    assert messages[0] == IN_EVAL_MODE and messages.count(IN_EVAL_MODE) == 1


def test_dropout_at_a_rate_of_its_own_in_eval_mode_has_both_names():
    class EncoderLayer(transformer.EncoderLayer):
        def forward(self, x, mask=None):
            x = self.norm1(x + F.dropout(self.self_attn(x, x, x, mask)[0], 0.1))
            return self.norm2(x + F.dropout(self.ffn(x), 0.1))

    assert judge(EncoderLayer).diagnoses == ("sublayers_dropped_in_eval_mode_too", "sublayers_dropped_at_a_fixed_rate")


def test_what_differs_in_train_mode_and_drops_nothing_is_told_as_such():
    class FeedForward(transformer.FeedForward):
        def forward(self, x):
            return super().forward(x) * (2 if self.training else 1)

    message = judge(FeedForward).outcomes[-1].message
    assert message.startswith("In train mode with dropout 0: All values of `y` differ from the right ones.")


def test_what_dropout_draws_does_not_depend_on_how_the_weights_were_made():
    class EncoderLayer(transformer.EncoderLayer):
        def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
            super().__init__(d_model, num_heads, d_ff, dropout)
            self.self_attn = multi_head.MultiHeadAttention(d_model, num_heads)
            for parameter in self.parameters():
                nn.init.normal_(parameter)

    assert judge(EncoderLayer).diagnoses == ("dropout_not_passed_to_attention",)


def test_of_a_gradient_the_values_that_are_nan_are_counted():
    def masked_attention(query, key, value, mask=None):
        added = 0.0 if mask is None else torch.zeros(mask.shape).masked_fill(mask == 0, -torch.inf)
        weights = torch.softmax(query @ key.mT / query.size(-1) ** 0.5 + added, -1).nan_to_num()
        return weights @ value, weights

    failed = [o.message for o in judge(masked_attention).outcomes if o.status == "failed"]
    assert len(failed) == 1 and "of the gradient of `query` are NaN; the right ones are not." in failed[0]


@pytest.mark.parametrize("answer", [lambda *args: [[1, 2], [3]], lambda *args: ((1, 2), (3,))])
def test_a_list_is_not_called_a_tuple(answer):
    assert "yours is a list or tuple." in judge(answer, exercise="beam_search").outcomes[0].message


class AssertedHeads(multi_head.MultiHeadAttention):
    def __init__(self, d_model, num_heads, *rest):
        assert d_model % num_heads == 0, f"{d_model} features cannot be split into {num_heads} heads"
        super().__init__(d_model, num_heads, *rest)


class AssertedMethods(luong.LuongAttention):
    def __init__(self, hidden_dim, encoder_dim, method):
        assert method in luong.METHODS, "no such method"
        assert method != "dot" or hidden_dim == encoder_dim, "the sizes differ"
        super().__init__(hidden_dim, encoder_dim, method)


class AssertedLength(positional_encoding.PositionalEncoding):
    def forward(self, x):
        assert x.size(1) <= len(self.pe), "too long"
        return super().forward(x)


@pytest.mark.parametrize("answer, exercise, name", [
    (AssertedHeads, "MultiHeadAttention", "uneven_split_refused_by_assert"),
    (AssertedMethods, "LuongAttention", "refused_by_assert"),
    (AssertedLength, "PositionalEncoding", "refused_by_assertion")])
def test_an_assert_is_the_same_whatever_its_text(answer, exercise, name):
    assert judge(answer, exercise=exercise).diagnoses == (name,)


def test_beam_search_is_named_however_far_its_rows_are_filled():
    def filled_to_the_end(model, state, bos, eos, beam_size, max_len, length_penalty):
        tokens = training.beam_search(model, state, bos, eos, beam_size, max_len, 0.0)
        return F.pad(tokens, (0, max_len - tokens.size(1)), value=eos)

    assert judge(filled_to_the_end, exercise="beam_search").diagnoses == ("length_penalty_unused",)
