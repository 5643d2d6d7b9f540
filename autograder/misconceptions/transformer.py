"""Chapter 08: the mistakes that are named in LayerNorm and FeedForward, each a wrong module that stands alone."""

import torch
from torch import nn

from autograder.exercises.transformer import CHAPTER, feed_forward, layer_norm

# --- LayerNorm -------------------------------------------------------------------------------------------------


class _Norm(nn.Module):
    """What the wrong norms below have in common: all is right, and each of them replaces one part."""

    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def statistics(self, x):
        return x.mean(dim=-1, keepdim=True), x.var(dim=-1, keepdim=True, unbiased=False)

    def divisor(self, variance):
        return torch.sqrt(variance + self.eps)

    def forward(self, x):
        mean, variance = self.statistics(x)
        return self.weight * (x - mean) / self.divisor(variance) + self.bias


@layer_norm.misconception(see=f"{CHAPTER}#mistake-layer-norm")
class mean_over_the_tokens(_Norm):
    """You take mean and variance over the tokens of a sentence; each token has its own, over its features."""

    def statistics(self, x):
        return x.mean(dim=1, keepdim=True), x.var(dim=1, keepdim=True, unbiased=False)


@layer_norm.misconception(see=f"{CHAPTER}#mistake-layer-norm")
class mean_over_the_batch(_Norm):
    """You take mean and variance over the sentences of the batch; a token must not depend on other sentences."""

    def statistics(self, x):
        return x.mean(dim=0, keepdim=True), x.var(dim=0, keepdim=True, unbiased=False)


@layer_norm.misconception(see=f"{CHAPTER}#mistake-layer-norm")
class one_mean_for_everything(_Norm):
    """You take one mean and one variance of the whole input; each token has its own, over its features."""

    def statistics(self, x):
        return x.mean(), x.var(unbiased=False)


@layer_norm.misconception(see=f"{CHAPTER}#mistake-layer-norm")
class divided_by_one_less(_Norm):
    """Your variance divides by d_model - 1, the default of `var`; here it divides by d_model."""

    def statistics(self, x):
        return x.mean(dim=-1, keepdim=True), x.var(dim=-1, keepdim=True)


@layer_norm.misconception(see=f"{CHAPTER}#mistake-layer-norm")
class eps_outside_the_root(_Norm):
    """You add eps after the root; it belongs to the variance, under the root."""

    def divisor(self, variance):
        return torch.sqrt(variance) + self.eps


@layer_norm.misconception(see=f"{CHAPTER}#mistake-layer-norm")
class standard_deviation_of_the_library(_Norm):
    """You divide by `x.std() + eps`: `std` divides by d_model - 1, and eps belongs under the root."""

    def forward(self, x):
        mean, deviation = x.mean(dim=-1, keepdim=True), x.std(dim=-1, keepdim=True)
        return self.weight * (x - mean) / (deviation + self.eps) + self.bias


@layer_norm.misconception(see=f"{CHAPTER}#mistake-layer-norm")
class eps_forgotten(_Norm):
    """You leave eps out; a token whose features are all equal is then 0 divided by 0."""

    def divisor(self, variance):
        return torch.sqrt(variance)


@layer_norm.misconception(see=f"{CHAPTER}#mistake-layer-norm")
class eps_as_a_lower_limit(_Norm):
    """You take eps as the least variance there is, so most tokens go without it; it is added to every variance."""

    def divisor(self, variance):
        return torch.sqrt(variance.clamp(min=self.eps))


@layer_norm.misconception(see=f"{CHAPTER}#mistake-layer-norm")
class eps_of_its_own(_Norm):
    """You write eps as a number into `forward`; the constructor is given another one, and that one counts."""

    def divisor(self, variance):
        return torch.sqrt(variance + 1e-5)


@layer_norm.misconception(see=f"{CHAPTER}#mistake-layer-norm")
class divided_by_the_variance(_Norm):
    """You divide by the variance; its root, the standard deviation, makes the values of size one."""

    def divisor(self, variance):
        return variance + self.eps


@layer_norm.misconception(see=f"{CHAPTER}#mistake-layer-norm")
class mean_not_subtracted(_Norm):
    """You divide, but do not subtract the mean of the features first."""

    def forward(self, x):
        return self.weight * x / self.divisor(self.statistics(x)[1]) + self.bias


@layer_norm.misconception(see=f"{CHAPTER}#mistake-layer-norm")
class variance_around_zero(_Norm):
    """Your variance is the mean of the squares; the mean has to be subtracted before squaring."""

    def statistics(self, x):
        return x.mean(dim=-1, keepdim=True), x.square().mean(dim=-1, keepdim=True)


@layer_norm.misconception(see=f"{CHAPTER}#mistake-layer-norm")
class weight_and_bias_unused(_Norm):
    """You normalise, and leave the learned weight and bias out of the result."""

    def forward(self, x):
        mean, variance = self.statistics(x)
        return (x - mean) / self.divisor(variance)


@layer_norm.misconception(see=f"{CHAPTER}#mistake-layer-norm")
class bias_inside_the_product(_Norm):
    """You add the bias before you multiply by the weight; it comes after."""

    def forward(self, x):
        mean, variance = self.statistics(x)
        return self.weight * ((x - mean) / self.divisor(variance) + self.bias)


@layer_norm.misconception(see=f"{CHAPTER}#mistake-layer-norm")
class bias_inside_the_division(_Norm):
    """You add the bias before you divide by the root; it comes last."""

    def forward(self, x):
        mean, variance = self.statistics(x)
        return (self.weight * (x - mean) + self.bias) / self.divisor(variance)


@layer_norm.misconception(see=f"{CHAPTER}#mistake-layer-norm")
class random_at_the_start(_Norm):
    """Your weight starts at random; it starts as 1, so that a new norm only normalises."""

    def __init__(self, d_model, eps=1e-5):
        super().__init__(d_model, eps)
        self.weight = nn.Parameter(torch.randn(d_model))


@layer_norm.misconception(see=f"{CHAPTER}#mistake-layer-norm")
class mean_over_tokens_and_features(_Norm):
    """You take mean and variance over tokens and features together; each token has its own, over its features."""

    def statistics(self, x):
        return x.mean(dim=(-2, -1), keepdim=True), x.var(dim=(-2, -1), keepdim=True, unbiased=False)


@layer_norm.misconception(see=f"{CHAPTER}#mistake-layer-norm")
class root_mean_square_norm(_Norm):
    """You take no mean away, neither above nor in the variance: that is RMSNorm, which later models use."""

    def forward(self, x):
        return self.weight * x / self.divisor(x.square().mean(dim=-1, keepdim=True)) + self.bias


@layer_norm.misconception(see=f"{CHAPTER}#mistake-layer-norm")
class default_eps_too_small(_Norm):
    """Your eps is 1e-6 where nobody says anything else; the default that is asked for is 1e-5."""

    def __init__(self, d_model, eps=1e-6):
        super().__init__(d_model, eps)


@layer_norm.misconception(see=f"{CHAPTER}#mistake-layer-norm")
class keepdim_forgotten(_Norm):
    """Your mean has lost the last axis, so it does not line up with x; `keepdim=True` keeps an axis of size 1."""

    def statistics(self, x):
        return x.mean(dim=-1), x.var(dim=-1, unbiased=False)


@layer_norm.misconception(see=f"{CHAPTER}#mistake-layer-norm")
class difference_of_squares(_Norm):
    """Your variance is E[x^2] - mean^2: with a large mean both are huge, and their difference is rounding."""

    def statistics(self, x):
        mean = x.mean(dim=-1, keepdim=True)
        return mean, x.square().mean(dim=-1, keepdim=True) - mean.square()


# --- FeedForward -----------------------------------------------------------------------------------------------


class _Feed(nn.Module):
    """What the wrong nets below have in common."""

    def __init__(self, d_model, d_ff=2048, dropout=0.1):
        super().__init__()
        self.linear1 = nn.Linear(d_model, d_ff)
        self.linear2 = nn.Linear(d_ff, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        return self.linear2(self.dropout(torch.relu(self.linear1(x))))


@feed_forward.misconception(see=f"{CHAPTER}#mistake-feed-forward")
class nothing_in_between(_Feed):
    """Nothing stands between your two layers; together they are then no more than one linear layer."""

    def forward(self, x):
        return self.linear2(self.dropout(self.linear1(x)))


@feed_forward.misconception(see=f"{CHAPTER}#mistake-feed-forward")
class relu_at_the_end(_Feed):
    """Your ReLU comes after the second layer; it belongs between the two."""

    def forward(self, x):
        return torch.relu(self.linear2(self.dropout(self.linear1(x))))


@feed_forward.misconception(see=f"{CHAPTER}#mistake-feed-forward")
class relu_at_the_start(_Feed):
    """Your ReLU comes before the first layer; it belongs between the two."""

    def forward(self, x):
        return self.linear2(self.dropout(self.linear1(torch.relu(x))))


@feed_forward.misconception(see=f"{CHAPTER}#mistake-feed-forward")
class relu_twice(_Feed):
    """You put a ReLU behind the second layer as well; its result may be negative."""

    def forward(self, x):
        return torch.relu(super().forward(x))


@feed_forward.misconception(see=f"{CHAPTER}#mistake-feed-forward")
class gelu_for_relu(_Feed):
    """You use GELU, as later models do; here it is ReLU, max(0, x)."""

    def forward(self, x):
        return self.linear2(self.dropout(nn.functional.gelu(self.linear1(x))))


@feed_forward.misconception(see=f"{CHAPTER}#mistake-residual")
class input_added_already(_Feed):
    """You add the input inside the net; the sum belongs to the layer around it."""

    def forward(self, x):
        return x + super().forward(x)


@feed_forward.misconception(see=f"{CHAPTER}#mistake-feed-forward")
class layers_without_bias(_Feed):
    """Your layers have no bias; b_1 and b_2 stand in the formula."""

    def __init__(self, d_model, d_ff=2048, dropout=0.1):
        super().__init__(d_model, d_ff, dropout)
        self.linear1 = nn.Linear(d_model, d_ff, bias=False)
        self.linear2 = nn.Linear(d_ff, d_model, bias=False)


@feed_forward.misconception(see=f"{CHAPTER}#mistake-dropout")
class no_dropout(_Feed):
    """Your net has no dropout: in train mode two calls give the same."""

    def forward(self, x):
        return self.linear2(torch.relu(self.linear1(x)))


@feed_forward.misconception(see=f"{CHAPTER}#mistake-dropout")
class dropout_in_eval_mode_too(_Feed):
    """Your dropout acts in eval mode as well: `F.dropout` does so unless it is told `self.training`."""

    def forward(self, x):
        return self.linear2(nn.functional.dropout(torch.relu(self.linear1(x)), self.dropout.p))


@feed_forward.misconception(see=f"{CHAPTER}#mistake-dropout")
class dropout_rate_of_its_own(_Feed):
    """Your dropout always drops a tenth; the constructor says how much."""

    def __init__(self, d_model, d_ff=2048, dropout=0.1):
        super().__init__(d_model, d_ff, 0.1)
