"""The largest tensor of an answer is measured where it lies in memory, and only where it is asked for."""

import pytest
import torch

from autograder.learner.calls import Call
from autograder.learner.runner import run
from autograder.learner.wire import dumps, loads

X = torch.rand(8, 2)


def sliced(x):
    return torch.empty(1000)[:3]


def in_place(x):
    y = torch.zeros(8, 8)
    torch.matmul(x, x.T, out=y)
    return y.mul_(2)


LARGEST = {
    "a product": (lambda x: (x @ x.T) @ x, 64),
    "a view": (lambda x: x.unsqueeze(1).expand(8, 50, 2)[0, 0].T, 16),
    "pieces": (lambda x: [piece + 1 for piece in x.split(2)], 16),
    "one of several results": (lambda x: x.repeat(5, 1).max(dim=1).values, 80),
    "what a slice keeps": (sliced, 1000),
    "in place": (in_place, 64),
    "another dtype": (lambda x: (x @ x.T > 0).any(), 64),
    "within an autograd function": (lambda x: Square.apply(x).sum(), 64),
    "under vmap": (lambda x: torch.vmap(lambda row: x @ row)(x).sum(), 64),
    "einsum": (lambda x: torch.einsum("id,jd->ij", x, x).sum(), 64),
    "row by row": (lambda x: torch.stack([(x @ row).sum() for row in x]), 16),
    "sparse": (lambda x: x.to_sparse().to_dense(), 16),
    "nothing": (lambda x: 3, 0),
}


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x @ x.T

    @staticmethod
    def backward(ctx, gradient):
        return None


@pytest.mark.parametrize("answer, elements", LARGEST.values(), ids=LARGEST)
def test_the_largest_tensor_is_measured(answer, elements):
    reply = run(answer, Call((X,), measured=True))
    assert reply.status == "returned" and reply.largest == elements
    assert run(answer, Call((X,))).largest == 0


def test_it_is_measured_beside_a_watch_without_the_backward_pass_and_crosses_the_wire():
    call = Call((X,), measured=True, watch=("softmax",), cotangents=(torch.ones(8),))
    reply = loads(dumps(run(lambda x: x.softmax(-1).sum(-1), loads(dumps(call)))))
    assert reply.largest == 16 and reply.used == ("softmax",) and reply.gradients[0].shape == X.shape
