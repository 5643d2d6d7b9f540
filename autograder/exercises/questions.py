"""Chapter 11: what later models changed inside a layer. Contract of each exercise: see its reference."""

from autograder.exercises.transformer import D_FF, D_MODEL, HEADS, layer_weights, must_drop, must_hide
from autograder.judging.exercise import Exercise
from autograder.judging.inputs import Inputs
from autograder.judging.standard import add_standard_criteria
from autograder.judging.trial import Trial
from autograder.learner.calls import Call
from autograder.reference import questions

CHAPTER = "11_questions"


# --- swiglu ----------------------------------------------------------------------------------------------------

def _swiglu_case(given: Inputs) -> Call:
    s = given.size
    wide, narrow = (s.d_model, s.d_k), (s.d_k, s.d_model)
    return Call((given.normal(s.batch, s.queries, s.d_k), *(given.normal(*wide, scale=s.d_k ** -0.5) for _ in "gu"),
                 given.normal(*narrow, scale=s.d_model ** -0.5)))


swiglu = Exercise(
    "swiglu", CHAPTER, questions.swiglu, _swiglu_case, returns=("y",),
    hints=("Two ways lead from d_model to d_ff, and one leads back. Where do the two meet?",
           "silu(a) is a times sigmoid(a): `F.silu(a)`. Only the gate goes through it.",
           "A matrix (out, in) is used as `x @ w.T`, as in nn.Linear.",
           "`(F.silu(x @ w_gate.T) * (x @ w_up.T)) @ w_down.T`."))
add_standard_criteria(
    swiglu, values=1.5, gradients=0.5, double_precision=0.5, arguments_unchanged=0.5, any_memory_layout=0.5,
    sentence="The result is (silu(x w_gate^T) * (x w_up^T)) w_down^T.")


@swiglu.criterion(points=0.5)
def any_leading_axes(trial: Trial) -> None:
    """x may be one vector, or have any number of axes before d_model."""
    given, s = trial.inputs(), trial.inputs().size
    weights = trial.case().args[1:]
    for axes in ((s.batch, s.queries), (), (s.heads,), (2, s.heads, s.queries)):
        trial.must_agree(Call((given.normal(*axes, s.d_k), *weights)))


# --- PreLNEncoderLayer -----------------------------------------------------------------------------------------

def _pre_ln_case(given: Inputs) -> Call:
    """The features have a mean and a spread of their own, or normalising twice would look like once."""
    s = given.size
    return Call((given.normal(s.batch, s.keys, D_MODEL, scale=1.5) + 0.5, given.mask(s.batch, s.keys)[:, None, None]),
                init=(D_MODEL, HEADS, D_FF), weights=layer_weights(given, "", ("self_attn",)))


pre_ln = Exercise(
    "PreLNEncoderLayer", CHAPTER, questions.PreLNEncoderLayer, _pre_ln_case, returns=("the new x",),
    off_limits=("attention",),
    hints=("The parts are those of EncoderLayer. What changes is where the norm stands.",
           "x goes straight through; what is added to it is computed from the normalised x.",
           "`y = self.norm1(x)`, then `x = x + self.dropout(self.self_attn(y, y, y, mask)[0])`.",
           "The same with norm2 and the feed-forward net, and no norm at the end."))
add_standard_criteria(
    pre_ln, values=4, gradients=1, double_precision=0.5, arguments_unchanged=0.5,
    sentence="With the same weights, in eval mode: x = x + Sublayer(LayerNorm(x)) for attention, then for the "
    "feed-forward net.")


@pre_ln.criterion(points=1)
def with_and_without_mask(trial: Trial) -> None:
    """Without a mask every token is read; with one, what stands at hidden positions reaches no other token."""
    must_hide(trial)


@pre_ln.criterion(points=1)
def dropout_when_training(trial: Trial) -> None:
    """In train mode dropout is at work; with dropout 0 it changes nothing."""
    must_drop(trial, trial.case())
