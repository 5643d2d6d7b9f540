"""Chapter 02: additive attention. Contract of each exercise: see its reference."""

from dataclasses import replace

import torch

from autograder.exercises.bottleneck import gru_weights
from autograder.judging.compare import close, form_problem, gradient_problem, value_problem
from autograder.judging.exercise import Exercise
from autograder.judging.inputs import Inputs
from autograder.judging.standard import GRADIENT_TOLERANCES, add_standard_criteria
from autograder.judging.trial import Answer, Trial
from autograder.learner.calls import Call, Reply
from autograder.learner.runner import run
from autograder.reference import bahdanau

CHAPTER = "02_bahdanau"
# Sizes by the letters of the reference: d_s is d_k (11), d_h is d_v (13), d_a is d_model (17), src is keys (7).


# --- additive_scores -------------------------------------------------------------------------------------------

def _scores_case(given: Inputs) -> Call:
    s = given.size
    return Call((given.normal(s.batch, s.d_k), given.normal(s.batch, s.keys, s.d_v),
                 given.normal(s.d_model, s.d_k, scale=s.d_k**-0.5), given.normal(s.d_model, s.d_v, scale=s.d_v**-0.5),
                 given.normal(s.d_model)))


additive_scores = Exercise(
    "additive_scores", CHAPTER, bahdanau.additive_scores, _scores_case, returns=("scores",),
    hints=("Take one position j: W_s s and W_h h_j are two vectors of size d_a. What happens to them next?",
           "`state @ W_s.T` is (batch, d_a) and `encoder_states @ W_h.T` is (batch, src, d_a). Which axis is missing "
           "in the first?",
           "`.unsqueeze(1)` gives the first an axis of size 1 that is repeated along src.",
           "After tanh, `@ v` sums the last axis: (batch, src, d_a) times (d_a,) is (batch, src)."))
add_standard_criteria(
    additive_scores, values=3, gradients=1, double_precision=0.5, arguments_unchanged=0.5, any_memory_layout=0.5,
    sizes_of_one=0.5, sentence="The score of position j is v^T tanh(W_s s + W_h h_j).")


# --- masked_weights --------------------------------------------------------------------------------------------

def _weights_case(given: Inputs) -> Call:
    s = given.size
    return Call((given.normal(s.heads, s.keys), given.mask(s.heads, s.keys)))


masked_weights = Exercise(
    "masked_weights", CHAPTER, bahdanau.masked_weights, _weights_case, returns=("weights",),
    hints=("Which number must a score become, so that exp of it is exactly 0?",
           "`scores.masked_fill(~mask, float('-inf'))`, then softmax along the last axis.",
           "A row of nothing but minus infinity gives 0 divided by 0. Such a row needs other scores before the "
           "softmax, whatever they are, and zeros after it.",
           "`nothing = ~mask.any(dim=-1, keepdim=True)` finds those rows. Fill only where `~mask & ~nothing`, and "
           "set every hidden weight to 0 at the end."))
add_standard_criteria(
    masked_weights, values=2, gradients=1, double_precision=0.5, arguments_unchanged=0.5,
    sentence="The weights are the softmax over the real positions of each row, and exactly 0 elsewhere.")


@masked_weights.criterion(points=0.5)
def exactly_zero(trial: Trial) -> None:
    """Hidden positions have the weight 0 itself, not a very small one."""
    call = trial.case()
    weights = trial.must_agree(call).output
    trial.require(bool((weights[~call.args[1]] == 0).all()), "Some hidden positions have a tiny weight that is not 0.")


@masked_weights.criterion(points=1)
def nothing_real(trial: Trial) -> None:
    """A row with nothing real is all zeros, and no NaN comes back in the gradient of the scores."""
    scores, mask = trial.case().args
    mask[1] = False
    trial.must_agree(Call((scores, mask)))
    trial.must_agree(trial.with_cotangents(Call((scores, mask))), GRADIENT_TOLERANCES)
    empty = Call((scores, torch.zeros_like(mask)))
    trial.must_agree(empty)
    arrived = trial.well_formed(trial.with_cotangents(empty)).gradients  # none at all is as right as zeros here
    trial.require(all(g is None or bool(g.isfinite().all()) for g in arrived), "A gradient contains NaN.")


@masked_weights.criterion(points=0.5)
def large_scores(trial: Trial) -> None:
    """Scores of +-10,000 are right to rounding, also where the largest is hidden."""
    scores, mask = trial.case().args
    trial.must_agree(Call((scores, mask)))  # first, because many mistakes look alike where one score rules
    for place in (~mask, mask):
        for large in (1e4, -1e4):
            trial.must_agree(Call((scores + place * large, mask)))
    apart = torch.linspace(-1e4, 1e4, len(scores)).unsqueeze(-1)  # each row has a largest score of its own
    trial.must_agree(Call((scores + apart, mask)))


# --- context_vector --------------------------------------------------------------------------------------------

def _context_case(given: Inputs) -> Call:
    s = given.size
    return Call((given.probabilities(s.batch, s.keys), given.normal(s.batch, s.keys, s.d_v)))


context_vector = Exercise(
    "context_vector", CHAPTER, bahdanau.context_vector, _context_case, returns=("context",),
    hints=("The context is one vector a sentence: which axis disappears?",
           "Each state is multiplied by its own weight, then all are added up: the weights need one more axis.",
           "`(weights.unsqueeze(-1) * encoder_states).sum(dim=1)`, or one matrix product with `weights.unsqueeze(1)`."))
add_standard_criteria(
    context_vector, values=1.5, gradients=0.5, double_precision=0.5, arguments_unchanged=0.5, sizes_of_one=0.5,
    sentence="The context is the sum over all positions of weight times encoder state.")


@context_vector.criterion(points=0.5)
def any_weights(trial: Trial) -> None:
    """Weights that do not sum to 1 are used as they are."""
    given = trial.inputs(strided=True)
    trial.must_agree(Call((given.normal(given.size.batch, given.size.keys),
                           given.normal(given.size.batch, given.size.keys, given.size.d_v))))


# --- AdditiveAttention -----------------------------------------------------------------------------------------

def _attention_weights(given: Inputs, before: str = "") -> dict[str, torch.Tensor]:
    s = given.size
    return {f"{before}W_s.weight": given.normal(s.d_model, s.d_k, scale=s.d_k**-0.5),
            f"{before}W_h.weight": given.normal(s.d_model, s.d_v, scale=s.d_v**-0.5),
            f"{before}v.weight": given.normal(1, s.d_model)}


def _attention_case(given: Inputs) -> Call:
    s = given.size
    return Call((given.normal(s.heads, s.d_k), given.normal(s.heads, s.keys, s.d_v), given.mask(s.heads, s.keys)),
                init=(s.d_k, s.d_v, s.d_model), weights=_attention_weights(given))


additive_attention = Exercise(
    "AdditiveAttention", CHAPTER, bahdanau.AdditiveAttention, _attention_case, returns=("context", "weights"),
    off_limits=("attention",),
    hints=("You wrote the parts above: scores, weights, context. Here they come together, with learned matrices.",
           "`nn.Linear(decoder_dim, attention_dim, bias=False)` is W_s; W_h likewise; v goes from attention_dim to 1.",
           "`self.W_s(state).unsqueeze(1) + self.W_h(encoder_states)` is the sum inside the tanh.",
           "`self.v(...)` leaves a last axis of size 1: `.squeeze(-1)`. Without a mask every position is real."))
add_standard_criteria(
    additive_attention, values=4, gradients=1, double_precision=0.5, arguments_unchanged=0.5, sizes_of_one=0.5,
    train_and_eval=0.5, sentence="With the same weights, context and attention weights equal the formula's.")


@additive_attention.criterion(points=0.5)
def without_a_mask(trial: Trial) -> None:
    """Without a mask every position is real."""
    call = trial.case()
    trial.must_agree(replace(call, args=call.args[:2]))


@additive_attention.criterion(points=0.5)
def a_row_with_nothing_real(trial: Trial) -> None:
    """A row with nothing real has zero weights, a zero context, and no NaN in any gradient."""
    call = trial.case()
    call.args[2][1] = False
    trial.must_agree(trial.with_cotangents(call), GRADIENT_TOLERANCES)


# --- BahdanauDecoderStep ---------------------------------------------------------------------------------------
# The step holds an AdditiveAttention of the learner's, which was judged above. A fault in it must not cost marks
# twice: where theirs is not right, the step is judged around an attention of ours.

def beside_their_attention(answer: Answer, call: Call) -> Call:
    """The call itself where the learner's attention is right, or the step all the same; else around ours."""
    alone = _attention_alone(call)
    reply = answer(alone, 0)
    if reply.status != "timed_out" and (_is_right(alone, reply) or _is_right(call, answer(call, 0))):
        return call
    _, _, *sizes = call.init
    return replace(call, substitute=tuple(sizes))


def _attention_alone(call: Call) -> Call:
    """What the right step asks its attention, gradients too if the step is asked for some."""
    _, *args = call.args
    alone = replace(call, args=tuple(args), part="attention", seconds=2.0)
    if call.cotangents is None:
        return alone
    draw, (batch, src, width) = Inputs(0, "beside_their_attention", dtype=call.dtype), args[1].shape
    return replace(alone, cotangents=(draw.normal(batch, width), draw.normal(batch, src)))


def _is_right(call: Call, reply: Reply) -> bool:
    """Whether the reply is the reference's: the whole step's, or that of its attention alone."""
    right, exercise = run(bahdanau.BahdanauDecoderStep, replace(call, watch=())), bahdanau_decoder_step
    if call.part:
        exercise = additive_attention
        for either in (reply, right):
            either.parameters = {n: shape for n, shape in either.parameters.items() if n.startswith("attention.")}
    if reply.changed or reply.used or form_problem(reply, right, exercise.returns):
        return False
    if value_problem(reply.output, right.output, exercise.returns):
        return False
    tensors = [name for name, value in zip(exercise.arguments, call.args, strict=False) if torch.is_tensor(value)]
    return call.cotangents is None or not gradient_problem(reply, right, tensors, GRADIENT_TOLERANCES)


def _step_case(given: Inputs) -> Call:
    s = given.size
    weights = {"embedding.weight": given.normal(s.vocab, s.embed)} | _attention_weights(given, "attention.")
    weights |= gru_weights(given, "cell", s.d_v + s.embed, s.d_k)
    weights |= {"out.weight": given.normal(s.vocab, s.d_k, scale=s.d_k**-0.5), "out.bias": given.normal(s.vocab)}
    return Call((given.whole_numbers(0, s.vocab - 1, s.heads), given.normal(s.heads, s.d_k, scale=0.5),
                 given.normal(s.heads, s.keys, s.d_v), given.mask(s.heads, s.keys)),
                init=(s.vocab, s.embed, s.d_k, s.d_v, s.d_model), weights=weights)


bahdanau_decoder_step = Exercise(
    "BahdanauDecoderStep", CHAPTER, bahdanau.BahdanauDecoderStep, _step_case,
    returns=("logits", "new_state", "weights"), off_limits=("attention",), beside=beside_their_attention,
    hints=("The order of a step: look, read, speak. What does the decoder look with, before it has read anything?",
           "`context, weights = self.attention(state, encoder_states, mask)`, with the state that came in.",
           "The cell reads context and embedding side by side: `torch.cat([context, embedded], dim=-1)`.",
           "`self.out(new_state)` are the logits; return `logits, new_state, weights`."))
add_standard_criteria(
    bahdanau_decoder_step, values=4, gradients=1, double_precision=0.5, arguments_unchanged=0.5, sizes_of_one=0.5,
    train_and_eval=0.5, sentence="With the same weights and a right AdditiveAttention (ours, where yours is not), "
    "logits, new state and attention weights are those of one decoder step.")


@bahdanau_decoder_step.criterion(points=0.5)
def looks_from_the_previous_state(trial: Trial) -> None:
    """The attention weights depend on the state that comes in, and not on the token that is read."""
    call = trial.case()
    token, *rest = call.args
    weights = trial.must_agree(call).output[2]
    other = (token + 1) % trial.inputs().size.vocab
    again = trial.must_agree(replace(call, args=(other, *rest))).output[2]
    trial.require(bool(close(weights, again).all()), "Your attention weights change with the token that is read.")


@bahdanau_decoder_step.criterion(points=0.5)
def a_step_without_a_mask(trial: Trial) -> None:
    """Without a mask every position is real."""
    call = trial.case()
    trial.must_agree(replace(call, args=call.args[:3]))
