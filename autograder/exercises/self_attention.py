"""Chapter 04: self-attention, piece by piece. Contract of each exercise: see its reference."""

from dataclasses import replace

import torch
from torch import nn

from autograder.judging.compare import close
from autograder.judging.exercise import Exercise
from autograder.judging.inputs import Inputs
from autograder.judging.standard import add_standard_criteria
from autograder.judging.trial import Trial
from autograder.learner.calls import Call
from autograder.reference import attention

CHAPTER = "04_self_attention"


# --- project_qkv -----------------------------------------------------------------------------------------------

def _project_case(given: Inputs) -> Call:
    s = given.size
    scale = s.d_model**-0.5
    return Call((given.normal(s.batch, s.queries, s.d_model), given.normal(s.d_k, s.d_model, scale=scale),
                 given.normal(s.d_k, s.d_model, scale=scale), given.normal(s.d_v, s.d_model, scale=scale)))


project_qkv = Exercise(
    "project_qkv", CHAPTER, attention.project_qkv, _project_case, returns=("q", "k", "v"),
    hints=("Look at one token first: q_i = W_Q x_i. Which axis of `w_q` is summed with the features of `x`?",
           "`x` has its features last, `w_q` has them last too. A matrix product sums the last axis of the left "
           "with the second to last of the right, so one of the two must be transposed.",
           "`x @ w_q.T` is (batch, seq, d_model) times (d_model, d_k). The same for k and v."))
add_standard_criteria(
    project_qkv, values=1.5, gradients=0.5, double_precision=0.5, arguments_unchanged=0.5, any_memory_layout=0.5,
    sizes_of_one=0.5,
    sentence="q, k and v are the three projections of x, each with its own matrix, in this order.")


@project_qkv.misconception(see=f"{CHAPTER}#mistake-projections")
def weights_not_transposed(x, w_q, w_k, w_v):
    """You multiply by W where W transposed is needed: the features of x must meet the last axis of W."""
    return x @ w_q, x @ w_k, x @ w_v


@project_qkv.misconception(see=f"{CHAPTER}#mistake-projections")
def query_and_key_swapped(x, w_q, w_k, w_v):
    """Your q was made with the key matrix and your k with the query matrix."""
    return x @ w_k.T, x @ w_q.T, x @ w_v.T


@project_qkv.misconception(see=f"{CHAPTER}#mistake-key-as-value")
def key_used_as_value(x, w_q, w_k, w_v):
    """Your v is the key: a token then gives away what it is found by, not what it has to say."""
    return x @ w_q.T, x @ w_k.T, x @ w_k.T


@project_qkv.misconception(see=f"{CHAPTER}#mistake-projections")
def value_not_projected(x, w_q, w_k, w_v):
    """Your v is x itself, and w_v is not used."""
    return x @ w_q.T, x @ w_k.T, x


@project_qkv.misconception(see=f"{CHAPTER}#mistake-early-scaling")
def query_scaled_here(x, w_q, w_k, w_v):
    """You already divide the query by the square root of d_k; here only the projections are asked for."""
    return x @ w_q.T / w_q.shape[0] ** 0.5, x @ w_k.T, x @ w_v.T


# --- attention_scores ------------------------------------------------------------------------------------------

def _scores_case(given: Inputs) -> Call:
    s = given.size
    return Call((given.normal(s.batch, s.queries, s.d_k), given.normal(s.batch, s.keys, s.d_k)))


attention_scores = Exercise(
    "attention_scores", CHAPTER, attention.attention_scores, _scores_case, returns=("scores",),
    hints=("Entry (i, j) is one dot product, of query i with key j. Which axis disappears?",
           "A batch of matrix products does it: (n_q, d_k) times (d_k, n_k). What has to be turned for that?",
           "`k.transpose(-2, -1)` swaps the last two axes of k and leaves the batch alone."))
add_standard_criteria(
    attention_scores, values=1.5, gradients=0.5, double_precision=0.5, arguments_unchanged=0.5, any_memory_layout=0.5,
    sizes_of_one=0.5,
    sentence="Entry (i, j) of the scores is the dot product of query i with key j, not scaled.")


@attention_scores.misconception(see=f"{CHAPTER}#mistake-early-scaling")
def already_scaled(q, k):
    """You divide by the square root of d_k here; the scores are asked for as they are, scaling comes later."""
    return q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5


@attention_scores.misconception(see=f"{CHAPTER}#mistake-early-scaling")
def mean_instead_of_sum(q, k):
    """You average the products over the features; a dot product adds them up."""
    return q @ k.transpose(-2, -1) / q.shape[-1]


@attention_scores.misconception(see=f"{CHAPTER}#mistake-early-scaling")
def cosine_similarity(q, k):
    """You normalise the vectors to length 1 first: that is the cosine, and lengths no longer count."""
    q, k = nn.functional.normalize(q, dim=-1), nn.functional.normalize(k, dim=-1)
    return q @ k.transpose(-2, -1)


@attention_scores.misconception(see=f"{CHAPTER}#mistake-swapped")
def keys_ask_queries(q, k):
    """Your scores are transposed: rows belong to keys and columns to queries."""
    return k @ q.transpose(-2, -1)


@attention_scores.misconception(see=f"{CHAPTER}#mistake-swapped")
def keys_not_transposed(q, k):
    """You multiply q by k without turning k: the features of both must be the axis that is summed."""
    return q @ k


@attention_scores.misconception(see=f"{CHAPTER}#mistake-swapped")
def all_axes_reversed(q, k):
    """You turn all axes of k around with `k.T`, the batch too; only the last two are to be swapped."""
    return q @ k.T


# --- attention_weights -----------------------------------------------------------------------------------------

def _weights_case(given: Inputs) -> Call:
    return Call((given.normal(given.size.batch, given.size.queries, given.size.keys),))


attention_weights = Exercise(
    "attention_weights", CHAPTER, attention.attention_weights, _weights_case, returns=("weights",),
    off_limits=("softmax", "attention"),
    hints=("Softmax is two steps: exp of everything, then divide so that each row sums to 1. Along which axis is a "
           "row?",
           "`keepdim=True` keeps the summed axis with size 1, so that the division lines up with the rows.",
           "exp(1e4) is infinite. Taking the same number away from every score of a row changes nothing in the "
           "quotient: which number makes every exponent at most 0?",
           "`scores - scores.amax(dim=-1, keepdim=True)`, then exp, then divide by the sum along the last axis."))
add_standard_criteria(
    attention_weights, values=4, gradients=0.5, double_precision=0.5, arguments_unchanged=0.5, any_memory_layout=0.5,
    sentence="Written out by yourself, the weights are the softmax of each row of scores.")


@attention_weights.criterion(points=0.5)
def rows_sum_to_one(trial: Trial) -> None:
    """Every row of weights is positive and sums to 1, and equal scores share equally."""
    weights = trial.well_formed(trial.case()).output
    trial.require(bool((weights >= 0).all()), "Some of your weights are negative.")
    sums = weights.sum(-1)
    trial.require(bool(((sums - 1).abs() < 1e-5).all()), "Not every row of your weights sums to 1.",
                  f"The sums lie between {sums.min():.3g} and {sums.max():.3g}.")
    trial.must_agree(Call((torch.zeros_like(weights),)))


@attention_weights.criterion(points=1)
def large_scores(trial: Trial) -> None:
    """Scores of +-10,000 give finite weights that are right to rounding, also when rows lie far apart."""
    s = trial.inputs(dtype=torch.float64)
    scores = s.normal(s.size.batch, s.size.queries, s.size.keys, scale=3.0)
    offsets = torch.linspace(-1e4, 1e4, s.size.queries, dtype=torch.float64).unsqueeze(-1)
    trial.must_agree(Call((scores + offsets,)))
    trial.must_agree(Call((scores * (1e4 / scores.abs().max()),)))


@attention_weights.criterion(points=0.5)
def any_leading_axes(trial: Trial) -> None:
    """It works for any number of leading axes: one row, one matrix, a batch of heads."""
    s = trial.inputs()
    for shape in [(s.size.batch, s.size.heads, s.size.queries, s.size.keys), (s.size.queries, s.size.keys),
                  (s.size.keys,), (1, 1, 1)]:
        trial.must_agree(Call((s.normal(*shape),)))


@attention_weights.misconception(see=f"{CHAPTER}#mistake-softmax-axis")
def softmax_over_queries(scores):
    """You normalise down the columns: each key's weights sum to 1, where each query's should."""
    scores = scores - scores.amax(dim=-2, keepdim=True) if scores.dim() > 1 else scores - scores.max()
    axis = -2 if scores.dim() > 1 else -1
    return scores.exp() / scores.exp().sum(dim=axis, keepdim=True)


@attention_weights.misconception(see=f"{CHAPTER}#mistake-softmax-axis")
def softmax_over_batch(scores):
    """You normalise over the first axis, so different sequences of the batch compete with each other."""
    exponentials = (scores - scores.amax(dim=0, keepdim=True)).exp()
    return exponentials / exponentials.sum(dim=0, keepdim=True)


@attention_weights.misconception(see=f"{CHAPTER}#mistake-softmax-axis")
def softmax_over_everything(scores):
    """You divide by the sum of the whole tensor; each row needs a sum of its own."""
    exponentials = (scores - scores.max()).exp()
    return exponentials / exponentials.sum()


@attention_weights.misconception(see=f"{CHAPTER}#mistake-overflow")
def maximum_not_subtracted(scores):
    """The formula is right, but exp overflows on large scores: infinity divided by infinity is NaN."""
    return scores.exp() / scores.exp().sum(dim=-1, keepdim=True)


@attention_weights.misconception(see=f"{CHAPTER}#mistake-overflow")
def one_maximum_for_all_rows(scores):
    """You take the maximum of the whole tensor away; a row that lies far below it becomes 0 divided by 0."""
    exponentials = (scores - scores.max()).exp()
    return exponentials / exponentials.sum(dim=-1, keepdim=True)


@attention_weights.misconception(see=f"{CHAPTER}#mistake-overflow")
def scores_cut_off(scores):
    """You cut large scores off so that exp stays finite; then very different scores get the same weight."""
    exponentials = scores.clamp(-50, 50).exp()
    return exponentials / exponentials.sum(dim=-1, keepdim=True)


@attention_weights.misconception(see=f"{CHAPTER}#mistake-overflow")
def not_a_number_painted_over(scores):
    """You replace NaN afterwards; what the overflow lost does not come back, and such a row sums to 0."""
    return torch.nan_to_num(scores.exp() / scores.exp().sum(dim=-1, keepdim=True))


@attention_weights.misconception(see=f"{CHAPTER}#mistake-not-normalised")
def exponentials_not_normalised(scores):
    """You take exp but do not divide by the sum of the row."""
    return (scores - scores.amax(dim=-1, keepdim=True)).exp()


@attention_weights.misconception(see=f"{CHAPTER}#mistake-not-normalised")
def divided_without_exp(scores):
    """You divide the scores by their sum without exp: negative scores give negative weights."""
    return scores / scores.sum(dim=-1, keepdim=True)


@attention_weights.misconception(see=f"{CHAPTER}#mistake-in-place")
def scores_edited_in_place(scores):
    """Your weights are right, but you subtract the maximum inside the scores that you were given."""
    scores -= scores.amax(dim=-1, keepdim=True)
    return scores.exp() / scores.exp().sum(dim=-1, keepdim=True)


@attention_weights.misconception(see=f"{CHAPTER}#mistake-softmax-axis")
def summed_axis_lost(scores):
    """The axis that you reduce disappears, so the rows no longer line up; `keepdim=True` keeps it with size 1."""
    exponentials = (scores - scores.amax(dim=-1)).exp()
    return exponentials / exponentials.sum(dim=-1)


# --- weighted_sum ----------------------------------------------------------------------------------------------

def _sum_case(given: Inputs) -> Call:
    s = given.size
    return Call((given.probabilities(s.batch, s.queries, s.keys), given.normal(s.batch, s.keys, s.d_v)))


weighted_sum = Exercise(
    "weighted_sum", CHAPTER, attention.weighted_sum, _sum_case, returns=("out",),
    hints=("Output i is a sum over the keys j: weight (i, j) times value j. Which axis of `weights` meets which "
           "axis of `v`?",
           "(n_q, n_k) times (n_k, d_v): the shapes already fit for one matrix product a batch.",
           "`weights @ v`, nothing else."))
add_standard_criteria(
    weighted_sum, values=1.5, gradients=0.5, double_precision=0.5, arguments_unchanged=0.5, sizes_of_one=0.5,
    sentence="Output i is the sum over all keys j of weight (i, j) times value j.")


@weighted_sum.criterion(points=0.5)
def any_weights(trial: Trial) -> None:
    """Weights that do not sum to 1 are used as they are."""
    s = trial.inputs(strided=True)
    trial.must_agree(Call((s.normal(s.size.batch, s.size.queries, s.size.keys),
                           s.normal(s.size.batch, s.size.keys, s.size.d_v))))


@weighted_sum.misconception(see=f"{CHAPTER}#mistake-mixing")
def weights_transposed(weights, v):
    """You turned the weights: their rows belong to queries already, and their columns meet the keys of v."""
    return weights.transpose(-2, -1) @ v


@weighted_sum.misconception(see=f"{CHAPTER}#mistake-mixing")
def softmax_applied_again(weights, v):
    """You apply softmax to weights that are weights already, which flattens them."""
    return torch.softmax(weights, dim=-1) @ v


@weighted_sum.misconception(see=f"{CHAPTER}#mistake-mixing")
def divided_by_number_of_keys(weights, v):
    """You divide by the number of keys as well; the weights are the division already."""
    return weights @ v / weights.shape[-1]


@weighted_sum.misconception(see=f"{CHAPTER}#mistake-mixing")
def only_the_best_key(weights, v):
    """You copy the value of the strongest key; the weighted sum mixes all of them."""
    best = weights.argmax(dim=-1)
    return torch.stack([values[row] for values, row in zip(v, best, strict=True)])


@weighted_sum.misconception(see=f"{CHAPTER}#mistake-mixing")
def renormalised(weights, v):
    """You divide the weights by their sum once more; here they are to be used as they are given."""
    return (weights / weights.sum(dim=-1, keepdim=True)) @ v


# --- SelfAttention ---------------------------------------------------------------------------------------------

def _module_case(given: Inputs) -> Call:
    s = given.size
    weights = {f"W_{letter}.weight": given.normal(s.d_k, s.d_model, scale=1.5 * s.d_model**-0.5) for letter in "qkv"}
    return Call((given.normal(s.batch, s.queries, s.d_model),), init=(s.d_model, s.d_k), weights=weights)


self_attention = Exercise(
    "SelfAttention", CHAPTER, attention.SelfAttention, _module_case, returns=("out", "weights"),
    off_limits=("attention",),
    hints=("Three parts: project x three times, score and normalise, mix. You wrote all of them above.",
           "`nn.Linear(d_model, d_k, bias=False)` is one projection; make three of them in `__init__`, with the "
           "names W_q, W_k and W_v.",
           "The scores are divided by the square root of d_k before the softmax; d_k is the last size of q.",
           "Return both: `return weights @ v, weights`."))
add_standard_criteria(
    self_attention, values=4, gradients=0.5, double_precision=0.5, arguments_unchanged=0.5, any_memory_layout=0.5,
    sizes_of_one=0.5, train_and_eval=0.5,
    sentence="With the same weights, the output and the attention weights equal softmax(QK^T / sqrt(d_k)) V.")


@self_attention.criterion(points=0.5)
def weights_mix_rows(trial: Trial) -> None:
    """Every row of the returned attention weights sums to 1, also where the scores are very large."""
    call = trial.case()
    for size in (1, 20):
        _, weights = trial.well_formed(replace(call, args=(call.args[0] * size,))).output
        # Scores in the hundreds are known to four decimals in float32, and so is exp(score - logsumexp).
        trial.require(bool(((weights.sum(-1) - 1).abs() < 1e-3).all()), "Not every row of your weights sums to 1.")


@self_attention.criterion(points=0.5)
def order_does_not_matter(trial: Trial) -> None:
    """Shuffling the tokens shuffles the outputs in the same way, and changes nothing else."""
    call = trial.case()
    order = torch.tensor([3, 0, 4, 1, 2])
    out, _ = trial.must_agree(call).output
    moved, _ = trial.must_agree(replace(call, args=(call.args[0][:, order],))).output
    trial.require(bool(close(moved, out[:, order]).all()), "Shuffling the tokens changes more than the order of yours.")


class _Projections(nn.Module):
    """What the wrong implementations below have in common: they register the right parameters."""

    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_q = nn.Linear(d_model, d_k, bias=False)
        self.W_k = nn.Linear(d_model, d_k, bias=False)
        self.W_v = nn.Linear(d_model, d_k, bias=False)


@self_attention.misconception(see="05_scaling#mistake-no-scaling")
class not_scaled(_Projections):
    """Your scores are not divided by the square root of d_k before the softmax."""

    def forward(self, x):
        q, k, v = self.W_q(x), self.W_k(x), self.W_v(x)
        weights = torch.softmax(q @ k.transpose(-2, -1), dim=-1)
        return weights @ v, weights


@self_attention.misconception(see="05_scaling#mistake-wrong-divisor")
class divided_by_d_k(_Projections):
    """You divide the scores by d_k (or by its square root twice); one square root is asked for."""

    def forward(self, x):
        q, k, v = self.W_q(x), self.W_k(x), self.W_v(x)
        weights = torch.softmax(q @ k.transpose(-2, -1) / q.shape[-1], dim=-1)
        return weights @ v, weights


@self_attention.misconception(see="05_scaling#mistake-wrong-divisor")
class divided_by_root_of_d_model(_Projections):
    """You divide by the square root of d_model; the dot product runs over d_k features."""

    def forward(self, x):
        q, k, v = self.W_q(x), self.W_k(x), self.W_v(x)
        weights = torch.softmax(q @ k.transpose(-2, -1) / x.shape[-1] ** 0.5, dim=-1)
        return weights @ v, weights


@self_attention.misconception(see="05_scaling#mistake-wrong-divisor")
class divided_by_root_of_tokens(_Projections):
    """You divide by the square root of the number of tokens; the dot product runs over d_k features."""

    def forward(self, x):
        q, k, v = self.W_q(x), self.W_k(x), self.W_v(x)
        weights = torch.softmax(q @ k.transpose(-2, -1) / x.shape[1] ** 0.5, dim=-1)
        return weights @ v, weights


@self_attention.misconception(see="05_scaling#mistake-after-softmax")
class scaled_after_softmax(_Projections):
    """You divide the weights, after the softmax; the scores are to be divided, before it."""

    def forward(self, x):
        q, k, v = self.W_q(x), self.W_k(x), self.W_v(x)
        weights = torch.softmax(q @ k.transpose(-2, -1), dim=-1) / q.shape[-1] ** 0.5
        return weights @ v, weights


@self_attention.misconception(see=f"{CHAPTER}#mistake-softmax-axis")
class normalised_over_queries(_Projections):
    """Your softmax runs down the columns: each key's weights sum to 1, where each query's should."""

    def forward(self, x):
        q, k, v = self.W_q(x), self.W_k(x), self.W_v(x)
        weights = torch.softmax(q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5, dim=-2)
        return weights @ v, weights


@self_attention.misconception(see=f"{CHAPTER}#mistake-key-as-value")
class keys_mixed(_Projections):
    """You mix the keys where the values should be mixed: W_v has no effect."""

    def forward(self, x):
        q, k = self.W_q(x), self.W_k(x)
        weights = torch.softmax(q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5, dim=-1)
        return weights @ k, weights


@self_attention.misconception(see=f"{CHAPTER}#mistake-projections")
class tokens_mixed(_Projections):
    """You mix the tokens themselves where their values should be mixed: W_v has no effect."""

    def forward(self, x):
        q, k = self.W_q(x), self.W_k(x)
        weights = torch.softmax(q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5, dim=-1)
        return weights @ x, weights


@self_attention.misconception(see=f"{CHAPTER}#mistake-overflow")
class maximum_not_subtracted_inside(_Projections):
    """The formula is right, but your own exp overflows on large scores: infinity divided by infinity is NaN."""

    def forward(self, x):
        q, k, v = self.W_q(x), self.W_k(x), self.W_v(x)
        exponentials = (q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5).exp()
        weights = exponentials / exponentials.sum(dim=-1, keepdim=True)
        return weights @ v, weights


@self_attention.misconception(see=f"{CHAPTER}#mistake-swapped")
class keys_ask(_Projections):
    """Your scores are transposed: rows belong to keys and columns to queries, so each key chooses among queries."""

    def forward(self, x):
        q, k, v = self.W_q(x), self.W_k(x), self.W_v(x)
        weights = torch.softmax(k @ q.transpose(-2, -1) / q.shape[-1] ** 0.5, dim=-1)
        return weights @ v, weights


@self_attention.misconception(see=f"{CHAPTER}#mistake-module")
class one_projection_for_query_and_key(_Projections):
    """Your queries and keys come from the same matrix, so W_k has no effect."""

    def forward(self, x):
        q, v = self.W_q(x), self.W_v(x)
        weights = torch.softmax(q @ q.transpose(-2, -1) / q.shape[-1] ** 0.5, dim=-1)
        return weights @ v, weights


@self_attention.misconception(see=f"{CHAPTER}#mistake-module")
class weights_not_returned(_Projections):
    """You return the output alone; the attention weights are asked for too."""

    def forward(self, x):
        q, k, v = self.W_q(x), self.W_k(x), self.W_v(x)
        return torch.softmax(q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5, dim=-1) @ v


@self_attention.misconception(see=f"{CHAPTER}#mistake-module")
class projections_with_bias(nn.Module):
    """Your three projections have a bias; in this exercise they are matrices alone (`bias=False`)."""

    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_q = nn.Linear(d_model, d_k)
        self.W_k = nn.Linear(d_model, d_k)
        self.W_v = nn.Linear(d_model, d_k)

    def forward(self, x):
        q, k, v = self.W_q(x), self.W_k(x), self.W_v(x)
        weights = torch.softmax(q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5, dim=-1)
        return weights @ v, weights


@self_attention.misconception(see=f"{CHAPTER}#mistake-module")
class output_and_weights_swapped(_Projections):
    """You return the weights first and the output second; it is the other way round."""

    def forward(self, x):
        q, k, v = self.W_q(x), self.W_k(x), self.W_v(x)
        weights = torch.softmax(q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5, dim=-1)
        return weights, weights @ v
