"""Chapter 08: LayerNorm and FeedForward. Most slips are the reference with one part replaced."""

import torch
import torch.nn.functional as F
from torch import nn

from autograder.reference import transformer


def norm(forward):
    """LayerNorm with `forward(self, x)` for its own."""
    return type("LayerNorm", (transformer.LayerNorm,), {"forward": forward})


def feed(forward):
    """FeedForward with `forward(self, x)` for its own."""
    return type("FeedForward", (transformer.FeedForward,), {"forward": forward})


def prepared(kind, prepare):
    """The reference, after `prepare(self, *sizes)` in its constructor."""
    class Prepared(kind):
        def __init__(self, *sizes):
            super().__init__(*sizes)
            prepare(self, *sizes)

    return Prepared


def right_norm(self, x):
    return transformer.LayerNorm.forward(self, x)


def right_feed(self, x):
    return transformer.FeedForward.forward(self, x)


def centered(x):
    return x - x.mean(-1, keepdim=True)


def spread(self, x):
    return (x.var(-1, keepdim=True, unbiased=False) + self.eps).sqrt()


def detached_statistics(self, x):
    mean, root = x.mean(-1, keepdim=True).detach(), spread(self, x).detach()
    return self.weight * (x - mean) / root + self.bias


def in_place(self, x):
    result = right_norm(self, x)
    x.data.sub_(x.mean(-1, keepdim=True))
    return result


def other_name(self, d_model, eps=1e-5):
    self.gamma = nn.Parameter(torch.ones(d_model))
    del self._parameters["weight"]
    type(self).weight = property(lambda module: module.gamma)


def constant_parameters(self, d_model, eps=1e-5):
    del self._parameters["weight"], self._parameters["bias"]
    self.register_buffer("weight", torch.ones(d_model))
    self.register_buffer("bias", torch.zeros(d_model))


def scalar_parameters(self, d_model, eps=1e-5):
    self.weight, self.bias = nn.Parameter(torch.ones(1)), nn.Parameter(torch.zeros(1))


LAYER_NORM = {
    "two axes": norm(lambda self, x: self.weight * (x - x.mean((-1, -2), keepdim=True)) / (
        x.var((-1, -2), keepdim=True, unbiased=False) + self.eps).sqrt() + self.bias),
    "mean of the features, deviation of the tokens": norm(lambda self, x: self.weight * centered(x) / (
        x.var(1, keepdim=True, unbiased=False) + self.eps).sqrt() + self.bias),
    "median for the mean": norm(lambda self, x: self.weight * (x - x.median(-1, keepdim=True).values) / spread(
        self, x) + self.bias),
    "mean of absolute differences": norm(lambda self, x: self.weight * centered(x) / (
        centered(x).abs().mean(-1, keepdim=True) + self.eps) + self.bias),
    "largest value": norm(lambda self, x: self.weight * centered(x) / (
        x.abs().amax(-1, keepdim=True) + self.eps) + self.bias),
    "multiplied by the deviation": norm(lambda self, x: self.weight * centered(x) * spread(self, x) + self.bias),
    "length of the vector": norm(lambda self, x: self.weight * F.normalize(centered(x), dim=-1) + self.bias),
    "sum of squares": norm(lambda self, x: self.weight * centered(x) / (
        centered(x).square().sum(-1, keepdim=True) + self.eps).sqrt() + self.bias),
    "bias before the division": norm(lambda self, x: (self.weight * centered(x) + self.bias) / spread(self, x)),
    "only centred": norm(lambda self, x: self.weight * centered(x) + self.bias),
    "eps squared": norm(lambda self, x: self.weight * centered(x) / (
        x.var(-1, keepdim=True, unbiased=False) + self.eps**2).sqrt() + self.bias),
    "eps for small deviations only": norm(lambda self, x: self.weight * centered(x) / x.std(
        -1, keepdim=True, unbiased=False).clamp(min=self.eps) + self.bias),
    "eps for small variances only": norm(lambda self, x: self.weight * centered(x) * x.var(
        -1, keepdim=True, unbiased=False).clamp(min=self.eps).rsqrt() + self.bias),
    "bias subtracted": norm(lambda self, x: right_norm(self, x) - 2 * self.bias),
    "bias forgotten": norm(lambda self, x: right_norm(self, x) - self.bias),
    "one plus weight": norm(lambda self, x: right_norm(self, x) + right_norm(self, x) / 2 - self.bias / 2),
    "input added": norm(lambda self, x: x + right_norm(self, x)),
    "statistics detached": norm(detached_statistics),
    "input detached": norm(lambda self, x: right_norm(self, x.detach())),
    "in place": norm(in_place),
    "float32 inside": norm(lambda self, x: right_norm(self, x).float().to(x.dtype)),
    "always float32": norm(lambda self, x: right_norm(self, x).float()),
    "view": norm(lambda self, x: right_norm(self, x.view(-1, x.size(-1))).view(x.shape)),
    "flat": norm(lambda self, x: right_norm(self, x).flatten(0, 1)),
    "the library's": norm(lambda self, x: F.layer_norm(x, x.shape[-1:], self.weight, self.bias, self.eps)),
    "the library's group norm": norm(lambda self, x: F.group_norm(
        x.flatten(0, -2), 1, self.weight, self.bias, self.eps).view_as(x)),
    "another name": prepared(transformer.LayerNorm, other_name),
    "buffers": prepared(transformer.LayerNorm, constant_parameters),
    "one number for all features": prepared(transformer.LayerNorm, scalar_parameters),
    "bias starts at one": prepared(transformer.LayerNorm, lambda self, d, eps=1e-5: self.bias.data.fill_(1.0)),
    "running statistics": norm(lambda self, x: self.weight * (x - (0 if self.training else 1) * x.mean(
        -1, keepdim=True)) / spread(self, x) + self.bias),
}


def hidden(self, x):
    return self.linear1(x)


def another_width(self, d_model, d_ff=2048, dropout=0.1):
    self.linear1, self.linear2 = nn.Linear(d_model, 4 * d_model), nn.Linear(4 * d_model, d_model)


def a_sequence(self, d_model, d_ff=2048, dropout=0.1):
    self.net = nn.Sequential(self.linear1, nn.ReLU(), self.dropout, self.linear2)
    del self.linear1, self.linear2


def one_more(self, d_model, d_ff=2048, dropout=0.1):
    self.linear3 = nn.Linear(d_model, d_model)


FEED_FORWARD = {
    "tanh": feed(lambda self, x: self.linear2(self.dropout(torch.tanh(hidden(self, x))))),
    "sigmoid": feed(lambda self, x: self.linear2(self.dropout(torch.sigmoid(hidden(self, x))))),
    "leaky": feed(lambda self, x: self.linear2(self.dropout(F.leaky_relu(hidden(self, x))))),
    "relu6": feed(lambda self, x: self.linear2(self.dropout(4 * F.relu6(hidden(self, x) / 4 + 0.1)))),
    "softmax": feed(lambda self, x: self.linear2(self.dropout(torch.softmax(hidden(self, x), -1)))),
    "negative part": feed(lambda self, x: self.linear2(self.dropout(-torch.relu(-hidden(self, x))))),
    "squared": feed(lambda self, x: self.linear2(self.dropout(torch.relu(hidden(self, x)).square()))),
    "first layer only": feed(lambda self, x: torch.relu(hidden(self, x))),
    "mean over tokens": feed(lambda self, x: right_feed(self, x.mean(1, keepdim=True).expand_as(x))),
    "normalised": feed(lambda self, x: F.layer_norm(right_feed(self, x), x.shape[-1:])),
    "second layer turned": feed(lambda self, x: torch.relu(hidden(self, x)) @ self.linear2.weight.reshape(
        self.linear2.weight.shape[::-1]) + self.linear2.bias),
    "first bias forgotten": feed(lambda self, x: self.linear2(self.dropout(torch.relu(x @ self.linear1.weight.T)))),
    "halved when training": feed(lambda self, x: right_feed(self, x) * (0.5 if self.training else 1)),
    "scaled in eval mode": feed(lambda self, x: right_feed(self, x) * (1 if self.training else 1 - self.dropout.p)),
    "input detached": feed(lambda self, x: right_feed(self, x.detach())),
    "hidden detached": feed(lambda self, x: self.linear2(self.dropout(torch.relu(hidden(self, x)).detach()))),
    "in place": feed(lambda self, x: self.linear2(self.dropout(torch.relu(self.linear1(x)))) + 0 * x.data.mul_(2)),
    "float32 inside": feed(lambda self, x: right_feed(self, x).float().to(x.dtype)),
    "always float32": feed(lambda self, x: right_feed(self, x).float()),
    "width of its own": prepared(transformer.FeedForward, another_width),
    "a sequence without the names": prepared(transformer.FeedForward, a_sequence),
    "one layer more": prepared(transformer.FeedForward, one_more),
}

WRONG = {"LayerNorm": LAYER_NORM, "FeedForward": FEED_FORWARD}

NAMED = {
    ("LayerNorm", "bias before the division"): "bias_inside_the_division",
    ("LayerNorm", "two axes"): "mean_over_tokens_and_features",
    ("LayerNorm", "eps for small variances only"): "eps_as_a_lower_limit",
}
