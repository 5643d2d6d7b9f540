"""Hidden tokens by invariants and counts, losses by hand, attention with a cache against attention without one."""

import itertools
import random

import pytest
import torch
from torch.nn import functional as F
from transformers import TopPLogitsWarper

from autograder.reference import families
from autograder.reference.multi_head import MultiHeadAttention, causal_mask, merge_heads, split_heads

SEEDS = range(5)


def seeded(seed):
    return torch.Generator().manual_seed(seed)


# --- masked language modelling ---------------------------------------------------------------------------------

@pytest.mark.parametrize("seed", SEEDS)
def test_labels_hold_what_was_hidden_and_nothing_else_changes(seed):
    tokens = torch.randint(30, (40, 50), generator=seeded(100 + seed))
    before, state = tokens.clone(), torch.get_rng_state()
    inputs, labels = families.mlm_batch(tokens, 3, [0, 1, 3], 30, seeded(seed), probability=0.5)
    assert torch.equal(tokens, before) and torch.equal(torch.get_rng_state(), state)
    assert inputs.dtype == labels.dtype == torch.int64 and inputs.shape == labels.shape == tokens.shape
    chosen = labels != -100
    assert torch.equal(labels[chosen], tokens[chosen]) and torch.equal(inputs[~chosen], tokens[~chosen])
    assert not bool((chosen & torch.isin(tokens, torch.tensor([0, 1, 3]))).any())
    assert inputs.min() >= 0 and inputs.max() < 30


@pytest.mark.parametrize("seed", SEEDS)
def test_the_shares_are_those_of_bert(seed):
    """One word repeated, and a mask outside the vocabulary, so that each fate can be told from the result."""
    tokens = torch.full((400, 250), 7)
    inputs, labels = families.mlm_batch(tokens, 11, [0], 11, seeded(seed))
    chosen = labels != -100
    fate = inputs[chosen]
    assert_share(chosen, 0.15)
    assert_share(fate == 11, 0.8)
    assert_share(fate == 7, 0.1 + 0.1 / 11)  # one random id in eleven is the word itself
    for other in set(range(11)) - {7}:
        assert_share(fate == other, 0.1 / 11)


def assert_share(happened, probability):
    """Five standard deviations around what is expected of independent events."""
    deviation = (probability * (1 - probability) / happened.numel()) ** 0.5
    assert abs(happened.double().mean().item() - probability) < 5 * deviation


@pytest.mark.parametrize("seed", SEEDS)
def test_each_token_is_chosen_for_itself(seed):
    """A fixed share in each row would give all rows the same count; of independent choices the counts vary."""
    _, labels = families.mlm_batch(torch.full((2000, 100), 7), 3, [0], 11, seeded(seed))
    chosen = (labels != -100).double()
    assert 0.8 < chosen.sum(dim=1).var() / (100 * 0.15 * 0.85) < 1.2  # deviation of this ratio: 0.03
    assert_share(chosen[:, 1:] * chosen[:, :-1], 0.15**2)  # a neighbour makes it neither likelier nor rarer


def test_the_generator_decides_and_the_probability_has_its_ends():
    tokens = torch.randint(4, 30, (5, 60), generator=seeded(0))
    one, other = (families.mlm_batch(tokens, 3, [0], 30, generator) for generator in (seeded(1), seeded(1)))
    assert all(map(torch.equal, one, other))
    generator = seeded(1)
    first, second = (families.mlm_batch(tokens, 3, [0], 30, generator)[1] for _ in range(2))
    assert not torch.equal(first, second)
    assert bool((families.mlm_batch(tokens, 3, [], 30, seeded(2), probability=0.0)[1] == -100).all())
    assert torch.equal(families.mlm_batch(tokens, 3, [], 30, seeded(2), probability=1.0)[1], tokens)


# --- next token, spans -----------------------------------------------------------------------------------------

@pytest.mark.parametrize("seed", SEEDS)
def test_the_loss_is_the_mean_over_what_comes_next(seed):
    logits = torch.randn(3, 5, 7, generator=seeded(seed), dtype=torch.float64, requires_grad=True)
    tokens = torch.randint(7, (3, 5), generator=seeded(seed))
    terms = [-torch.log_softmax(logits[row, t], 0)[tokens[row, t + 1]] for row in range(3) for t in range(4)]
    loss = families.next_token_loss(logits, tokens)
    torch.testing.assert_close(loss, torch.stack(terms).mean(), atol=1e-12, rtol=0)
    (grad,) = torch.autograd.grad(loss, logits)
    assert bool((grad[:, -1] == 0).all()) and bool((grad[:, :-1] != 0).all())


def test_the_loss_of_large_logits_is_finite():
    logits = torch.tensor([[[1e4, -1e4, 0.0], [0.0, 0.0, 0.0]]])
    assert families.next_token_loss(logits, torch.tensor([[0, 1]])).item() == 2e4


def test_spans_of_a_sentence_two_of_which_touch():
    tokens = ["the", "cat", "that", "chased", "the", "mouse", "was", "very", "tired"]
    inputs, targets = families.span_corruption(tokens, [(1, 2), (2, 4), (8, 9)], ["<X>", "<Y>", "<Z>", "<E>", "<F>"])
    assert inputs == ["the", "<X>", "<Y>", "the", "mouse", "was", "very", "<Z>"]
    assert targets == ["<X>", "cat", "<Y>", "that", "chased", "<Z>", "tired", "<E>"]


@pytest.mark.parametrize("seed", range(30))
def test_targets_put_back_into_inputs_give_the_tokens(seed):
    rng = random.Random(seed)
    tokens = [rng.randrange(50) for _ in range(12)]
    cuts = sorted(rng.sample(range(13), rng.randrange(6)))
    spans = [span for span in itertools.pairwise(cuts) if rng.random() < 0.6]  # neighbours touch
    sentinels = [99, 98, 97, 96, 95]
    given = (list(tokens), list(spans), list(sentinels))
    inputs, targets = families.span_corruption(*given)
    assert given == (tokens, spans, sentinels)
    assert [t for t in targets if t >= 50] == sentinels[:len(spans) + 1] and targets[-1] == sentinels[len(spans)]
    cut = {s: targets[targets.index(s) + 1:targets.index(after)] for s, after in itertools.pairwise(sentinels)
           if after in targets}
    assert [word for token in inputs for word in cut.get(token, [token])] == tokens


# --- decoding --------------------------------------------------------------------------------------------------

CHUNKS = [[9], [1] * 9, [4, 1, 3, 1], [1, 8], [2, 0, 7]]


def heads(seed, seq=9):
    generator = seeded(seed)
    return [torch.randn(2, 3, seq, 5, generator=generator, dtype=torch.float64, requires_grad=True) for _ in range(3)]


def in_chunks(tensors, sizes):
    """The outputs side by side, and the last cache."""
    outputs, cache = [], None
    for parts in zip(*(tensor.split(sizes, dim=-2) for tensor in tensors), strict=True):
        given = None if cache is None else [kept.clone() for kept in cache]
        output, new_cache = families.cached_attention(*parts, cache)
        assert given is None or all(map(torch.equal, cache, given))
        outputs, cache = [*outputs, output], new_cache
    return torch.cat(outputs, dim=-2), cache


@pytest.mark.parametrize("sizes", CHUNKS, ids=str)
@pytest.mark.parametrize("seed", range(3))
def test_in_chunks_it_is_torchs_causal_attention_with_its_gradients(seed, sizes):
    tensors = heads(seed)
    output, cache = in_chunks(tensors, sizes)
    right = F.scaled_dot_product_attention(*tensors, is_causal=True)
    torch.testing.assert_close(output, right, atol=1e-12, rtol=0)
    assert torch.equal(cache[0], tensors[1]) and torch.equal(cache[1], tensors[2])
    direction = torch.randn(output.shape, dtype=output.dtype, generator=seeded(5))
    mine, theirs = (torch.autograd.grad((out * direction).sum(), tensors) for out in (output, right))
    torch.testing.assert_close(mine, theirs, atol=1e-12, rtol=0)


def test_it_is_the_attention_of_the_courses_module():
    torch.manual_seed(0)
    module, x = MultiHeadAttention(12, 3, dropout=0.0).double(), torch.randn(2, 9, 12, dtype=torch.float64)
    projected = [split_heads(linear(x), 3) for linear in (module.W_q, module.W_k, module.W_v)]
    output = module.W_o(merge_heads(in_chunks(projected, [4, 1, 4])[0]))
    torch.testing.assert_close(output, module(x, x, x, causal_mask(9))[0], atol=1e-12, rtol=0)


def test_sequences_with_caches_of_their_own_do_not_mix():
    one, other = heads(0), heads(1)
    caches, outputs = [None, None], ([], [])
    for t in range(9):
        for number, tensors in enumerate((one, other)):
            step = [tensor[..., t:t + 1, :] for tensor in tensors]
            output, caches[number] = families.cached_attention(*step, caches[number])
            outputs[number].append(output)
    for tensors, parts in zip((one, other), outputs, strict=True):
        torch.testing.assert_close(torch.cat(parts, dim=-2), in_chunks(tensors, [9])[0], atol=1e-12, rtol=0)


@pytest.mark.parametrize("p", [0.0, 0.05, 0.3, 0.5, 0.9, 0.99, 1.0])
@pytest.mark.parametrize("seed", SEEDS)
def test_the_nucleus_is_the_smallest_set_that_reaches_p(seed, p):
    logits = torch.randn(6, 40, generator=seeded(seed), dtype=torch.float64) * 2
    filtered = families.top_p_filter(logits, p)
    kept = filtered.isfinite()
    assert torch.equal(filtered[kept], logits[kept]) and bool((filtered[~kept] == -torch.inf).all())
    for row in range(6):
        ranked = sorted(range(40), key=lambda token: -logits[row, token])
        probabilities = torch.softmax(logits[row], 0)
        size = next(n for n in range(1, 41) if n == 40 or probabilities[ranked[:n]].sum() >= p)
        assert set(kept[row].nonzero().flatten().tolist()) == set(ranked[:size])
    if 0 < p < 1:
        assert torch.equal(filtered, TopPLogitsWarper(p)(None, logits))


@pytest.mark.parametrize("scale", [1.0, 30.0, 1000.0])
def test_at_one_all_are_kept_also_what_rounds_to_nothing(scale):
    logits = torch.randn(4, 5000, generator=seeded(0)) * scale
    assert torch.equal(families.top_p_filter(logits, 1.0), logits)
    assert families.top_p_filter(logits, 0.0).isfinite().sum(dim=-1).tolist() == [1] * 4
