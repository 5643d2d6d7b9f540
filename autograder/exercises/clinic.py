"""Chapter 11, the clinic: ten parts to mend, and the names of their faults. Contract of each: see its reference."""

from collections.abc import Callable
from dataclasses import replace

import torch

from autograder.exercises.questions import CHAPTER
from autograder.exercises.transformer import D_FF, D_MODEL, HEADS, layer_weights, linear_weights, must_drop
from autograder.exercises.transformer_training import same_loss
from autograder.judging.compare import close, form_problem
from autograder.judging.exercise import Criterion, Exercise
from autograder.judging.inputs import Inputs
from autograder.judging.standard import add_standard_criteria
from autograder.judging.trial import NotAttempted, Trial
from autograder.learner.calls import Call
from autograder.reference import clinic

# --- the clinic: inputs ----------------------------------------------------------------------------------------

def _tokens(given: Inputs, pad: int) -> torch.Tensor:
    """Each row has a real token and a pad, in no order; which id stands for pad is free, and another one is 0."""
    s = given.size
    tokens, real = given.whole_numbers(0, s.vocab - 2, s.heads, s.keys), given.mask(s.heads, s.keys)
    tokens += (tokens >= pad).long()
    if pad:
        tokens.scatter_(1, real.int().argmax(dim=1, keepdim=True), 0)
    return tokens.masked_fill(~real, pad)


def _attention_case(given: Inputs) -> Call:
    s = given.size
    keys = (s.batch, s.heads, s.keys, s.d_k)
    return Call((given.normal(s.batch, s.heads, s.queries, s.d_k), given.normal(*keys), given.normal(*keys),
                 given.mask(s.queries, s.keys)))


def _stack_case(given: Inputs) -> Call:
    s, weights = given.size, {}
    for layer in range(2):
        weights |= layer_weights(given, f"layers.{layer}.", ("self_attn",))
    return Call((given.normal(s.batch, s.keys, D_MODEL), given.mask(s.batch, s.keys)[:, None, None]),
                init=(2, D_MODEL, HEADS, D_FF), weights=weights)


def _loss_case(given: Inputs, pad: int = 0) -> Call:
    s = given.size
    return Call((given.normal(s.heads, s.keys, s.vocab, scale=2.0), _tokens(given, pad), pad))


CASES = {
    1: lambda g: Call((g.whole_numbers(0, g.size.vocab - 1, g.size.batch, g.size.keys),)),
    2: _attention_case,
    3: lambda g: Call((_tokens(g, 3), 3)),
    4: lambda g: Call((g.normal(g.size.batch, g.size.queries, 2 * g.size.d_k),), init=(2 * g.size.d_k, 7), weights={}),
    5: lambda g: Call((g.normal(g.size.batch, g.size.heads, g.size.queries, g.size.d_k),)),
    6: lambda g: Call((g.normal(g.size.batch, g.size.queries, g.size.d_k, scale=2.0) + 1,), init=(g.size.d_k,),
                      weights={"weight": g.normal(g.size.d_k) + 1, "bias": g.normal(g.size.d_k)}),
    7: _stack_case,
    8: _loss_case,
    9: lambda g: Call((g.normal(g.size.batch, g.size.queries, g.size.d_k),), init=(g.size.d_k, g.size.d_model),
                      weights=linear_weights(g, {"linear1": (g.size.d_model, g.size.d_k),
                                                 "linear2": (g.size.d_k, g.size.d_model)})),
    10: lambda g: Call((g.normal(g.size.batch, g.size.queries, g.size.d_k), 7,  # more than there are new ones
                        g.normal(g.size.vocab + 7, g.size.d_k))),
}
TABLE = {torch.float32: (1e-4, 1e-4), torch.float64: (1e-4, 1e-4)}
HINTS = {
    1: ("At position t, which token is fed, and which one is asked for?",
        "Write both for the sentence 11 3 1 12, one below the other. Which of them is one token late?",
        "`tokens[:, :-1]` is fed, and `tokens[:, 1:]` is asked for."),
    2: ("Add up a row of the weights. What would make it 1, with the forbidden ones at 0?",
        "A forbidden key must be out before the softmax adds up, or be taken out of its sum afterwards.",
        "exp(-infinity) is 0: `scores.masked_fill(~mask, float(\"-inf\"))`, then the softmax."),
    3: ("The course's masks say what is allowed. What does True say here?",
        "Print the mask of one sentence beside the sentence.",
        "`tokens != pad`, with the same two axes put in."),
    4: ("Which axis of x counts the positions, and which the sequences?",
        "x is (batch, seq, d_model). How many rows of the table does a sentence need?",
        "(seq, d_model) is added to each sentence of (batch, seq, d_model) by itself: no axis has to be put in."),
    5: ("Which two axes must be neighbours before they become one?",
        "reshape never moves a number. What stands next to one head's features at a position?",
        "Bring (batch, heads, seq, d_k) to (batch, seq, heads, d_k) first: `transpose(1, 2)`."),
    6: ("One token's mean and variance run over its own features. Which axis is that?",
        "Let the sequence have one token: what is x minus its mean, over the axis that is taken here?",
        "`dim=-1`, in both lines."),
    7: ("Count the parameters of one layer and of three.",
        "`[layer] * 3` is a list of three names for one thing.",
        "Call `EncoderLayer(...)` once for each place in the list."),
    8: ("How many of the terms in this mean are words?",
        "The sum must leave out the pads, and so must the number that it is divided by.",
        "`F.cross_entropy` has the argument `ignore_index`."),
    9: ("What tells `F.dropout` whether the module trains?",
        "`net.eval()` sets `net.training` to False, and does no more.",
        "`F.dropout(hidden, self.rate, training=self.training)`, or an `nn.Dropout`, which looks by itself."),
    10: ("Six tokens are in the cache. At which position does the next one stand?",
         "How many rows of the table are needed, and from which one on?",
         "From row `past` to row `past + x.size(1)`, which is not part of it."),
}
RETURNS = {1: ("inputs", "targets"), 2: ("output",), 3: ("mask",), 5: ("output",), 8: ("loss",)}


def _patient(number: int, **options) -> Exercise:
    name = f"clinic_{number}"
    return Exercise(name, CHAPTER, getattr(clinic, name), CASES[number], returns=RETURNS.get(number, ("the new x",)),
                    hints=HINTS[number], **options)


# --- the clinic: the ten patients ------------------------------------------------------------------------------

clinic_1 = _patient(1)
add_standard_criteria(clinic_1, values=1, arguments_unchanged=0.5,
                      sentence="What is fed at a position is the token before the one that is asked for there.")


@clinic_1.criterion(points=0.5)
def any_length(trial: Trial) -> None:
    """Each sequence of two tokens or more loses one position, and no more."""
    for length in (5, 2, 9):
        trial.must_agree(Call((trial.inputs().whole_numbers(0, 18, 3, length),)))


clinic_2 = _patient(2, off_limits=("attention",))
add_standard_criteria(clinic_2, values=1, gradients=0.5,
                      sentence="The softmax runs over the allowed keys: their weights add up to 1.")


@clinic_2.criterion(points=0.5)
def what_is_hidden_has_no_say(trial: Trial) -> None:
    """Other keys and values at hidden places change nothing, and each of the allowed has its part."""
    call = trial.case()
    query, key, value, _ = call.args
    mask = torch.ones(query.size(-2), key.size(-2), dtype=torch.bool).tril()
    before = trial.must_agree(Call((query, key, value, mask))).output
    key, value = key.clone(), value.clone()
    key[..., 3:, :] *= -2
    value[..., 3:, :] += 1
    after = trial.must_agree(Call((query, key, value, mask))).output
    trial.require(bool(close(before[..., :3, :], after[..., :3, :]).all()), "A hidden key changes the result.")


clinic_3 = _patient(3)
add_standard_criteria(clinic_3, values=1, arguments_unchanged=0.5,
                      sentence="The mask is True where a real token stands, for all heads and queries alike.")


@clinic_3.criterion(points=0.5)
def any_pad(trial: Trial) -> None:
    """Pad may be any id."""
    for pad in (0, 3, 18):
        trial.must_agree(Call((_tokens(trial.inputs(str(pad)), pad), pad)))


clinic_4 = _patient(4, tolerance=TABLE)
add_standard_criteria(clinic_4, values=1, gradients=0.5,
                      sentence="Row t of the table is added at position t, in every sequence of the batch.")


@clinic_4.criterion(points=0.5)
def batches_of_any_size(trial: Trial) -> None:
    """It makes no difference in which row of a batch a sequence stands, and a batch may be larger than max_len."""
    call = trial.case()
    trial.must_agree(call)
    trial.must_agree(replace(call, args=(trial.inputs().normal(9, 3, 22),)))


clinic_5 = _patient(5)
add_standard_criteria(clinic_5, values=1, gradients=0.5, any_memory_layout=0.5,
                      sentence="The features of all heads at one position stand side by side, head by head.")

clinic_6 = _patient(6)
add_standard_criteria(clinic_6, values=1, gradients=0.5,
                      sentence="Each token is normalised over its own features, and over nothing else.")


@clinic_6.criterion(points=0.5)
def each_token_alone(trial: Trial) -> None:
    """A token comes out the same by itself and among others, and eps is the one that the constructor was given."""
    call = trial.case()
    trial.must_agree(call)
    trial.must_agree(replace(call, args=(call.args[0][:, :1],)))
    trial.must_agree(replace(call, args=(call.args[0] * 3e-3,), init=(*call.init, 0.1)))


clinic_7 = _patient(7, off_limits=("attention",))
add_standard_criteria(clinic_7, values=1, gradients=0.5,
                      sentence="Layer by layer, each with weights of its own, and each with the mask.")


@clinic_7.criterion(points=0.5)
def any_number_of_layers(trial: Trial) -> None:
    """One layer or several, with and without a mask."""
    call = trial.case()
    trial.must_agree(call)
    trial.must_agree(replace(call, args=call.args[:1]))
    trial.must_agree(replace(call, init=(1, *call.init[1:])))


clinic_8 = _patient(8, agreement=same_loss)
add_standard_criteria(clinic_8, values=1, gradients=0.5,
                      sentence="The loss is the mean over the real tokens of all sentences.")


@clinic_8.criterion(points=0.5)
def more_padding_changes_nothing(trial: Trial) -> None:
    """Whatever stands at pads, and however many there are, the loss is the same; pad may be any id."""
    logits, target, pad = _loss_case(trial.inputs(), 4).args
    trial.must_agree(Call((logits, target, pad)))
    more = trial.inputs("more").normal(len(target), 5, logits.size(-1), scale=2.0)
    target = torch.cat([target, torch.full((len(target), 5), pad)], dim=1)
    trial.must_agree(Call((torch.cat([logits, more], dim=1), target, pad)))


clinic_9 = _patient(9)
add_standard_criteria(clinic_9, values=1, gradients=0.5,
                      sentence="In eval mode the result is max(0, x W_1 + b_1) W_2 + b_2, each time the same.")


@clinic_9.criterion(points=0.5)
def it_drops_when_it_trains(trial: Trial) -> None:
    """In train mode dropout is at work, in eval mode not, however high it is."""
    call = trial.case()
    must_drop(trial, call)
    trial.must_agree(replace(call, init=(*call.init, 0.5)))


clinic_10 = _patient(10)
add_standard_criteria(clinic_10, values=1, gradients=0.5,
                      sentence="The first new token stands at position `past`, the next one after it.")


@clinic_10.criterion(points=0.5)
def whole_and_token_by_token(trial: Trial) -> None:
    """Without a past, one token at a time, or several at once: a token's position is the number of those before it."""
    call = trial.case()
    x, _, rows = call.args
    trial.must_agree(call)
    for past, new in ((0, x), (3, x[:, :1]), (10, x[:, :2])):
        trial.must_agree(Call((new, past, rows)))


# --- clinic_names ----------------------------------------------------------------------------------------------
# The answer is a dict, so what is asked is its method `get`, one patient a criterion. Nothing here says a right name.

clinic_names = Exercise(
    "clinic_names", CHAPTER, clinic.NAMES, lambda given: Call(("clinic_1",), part="get"), returns=("name",),
    hints=("Begin with what only one patient has: a count, two results of one input, two losses.",
           "A loss below ln 10 on random digits: which faults let a token see what it should guess?",
           "Four patients have such a loss. Change a later token, look at the weights, give it one token alone.",
           "The chapter's section on the clinic says where to look for what you see; the table at the end of its "
           "\"Common mistakes\" tells faults apart that look alike."))


def _named(patient: str) -> Callable[[Trial], None]:
    def check(trial: Trial) -> None:
        call = Call((patient,), part="get")
        reply = trial.ask(call)
        if reply.status == "returned" and reply.output is None:
            raise NotAttempted
        trial.require(reply.status != "raised" or "'get'" not in reply.error.text, "`clinic_names` should be a dict "
                      "from each patient's part, such as \"clinic_1\", to the name of its fault.")
        if problem := form_problem(reply, trial.expected(call), clinic_names.returns):
            trial.require(False, problem.message, problem.detail)
        trial.require(reply.output in clinic.TWENTY, f"The name of {patient} is not on the list of twenty; copy it "
                      "from there.", f"Yours is {reply.output!r}.")
        trial.require(reply.output == clinic.NAMES[patient], f"That is not what {patient} suffers from.")
    return check


for _name in clinic.NAMES:
    clinic_names.criteria.append(Criterion(_name, f"The fault of {_name} has its name.", 0.5, _named(_name)))
