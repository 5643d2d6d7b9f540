"""A decoder that remembers keys and values says what one that computes all again says."""

import pytest
import torch

from autograder.reference.bottleneck import greedy_decode
from autograder.reference.kv_cache import CachedDecoder
from autograder.reference.multi_head import causal_mask, padding_mask
from autograder.reference.training import beam_search
from autograder.reference.transformer import Transformer

PAD, BOS, EOS = 0, 1, 2
STEPS = 9


def translator(seed, norm_first=False):
    """A model in float64 whose logits differ enough for a search, a source with padding, and its mask."""
    torch.manual_seed(seed)
    model = Transformer(11, 13, 12, 3, 2, 19, max_len=STEPS, norm_first=norm_first).double().eval()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, 0.0, 0.5)
    src = torch.randint(3, 11, (4, 7))
    src[1, -3:] = PAD
    return model, src, padding_mask(src, PAD)


class Uncached:
    """The same interface by `decode` alone: the state is a row of tokens, the source and then what was said."""

    def __init__(self, model, width):
        self.model, self.width = model, width

    def step(self, tokens, state):
        state = torch.cat([state, tokens.unsqueeze(1)], dim=1)
        src, said = state[:, :self.width], state[:, self.width:]
        mask = padding_mask(src, PAD)
        hidden = self.model.decode(said, self.model.encode(src, mask), mask, causal_mask(said.size(1)))
        return self.model.proj(hidden[:, -1]), state


@pytest.mark.parametrize("norm_first", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_every_step_has_the_logits_of_one_parallel_pass(seed, norm_first):
    model, src, mask = translator(seed, norm_first)
    tgt = torch.randint(3, 13, (4, STEPS))
    decoder = CachedDecoder(model)
    state = decoder.start(src, mask)
    for t in range(STEPS):
        logits, state = decoder.step(tgt[:, t], state)
        parallel = model(src, tgt[:, :t + 1], mask, causal_mask(t + 1))[:, -1]
        torch.testing.assert_close(logits, parallel, atol=1e-10, rtol=0)
        assert state.said.shape == (4, 2, 2, 3, t + 1, 4) and state.source.shape == (4, 2, 2, 3, 7, 4)


def test_a_source_without_padding_needs_no_mask():
    model, src, _ = translator(0)
    src = src[:1]
    decoder = CachedDecoder(model)
    logits, state = decoder.step(torch.tensor([BOS]), decoder.start(src))
    assert state[torch.tensor([0, 0])].source_mask is None
    torch.testing.assert_close(logits, model(src, torch.tensor([[BOS]]))[:, -1], atol=1e-10, rtol=0)


@pytest.mark.parametrize("seed", range(3))
def test_greedy_and_beam_search_say_the_same_with_and_without(seed):
    model, src, mask = translator(seed)
    decoder, slow = CachedDecoder(model), Uncached(model, src.size(1))
    with torch.no_grad():
        start = decoder.start(src, mask)
    assert torch.equal(greedy_decode(decoder, start, BOS, EOS, STEPS), greedy_decode(slow, src, BOS, EOS, STEPS))
    for beams in (1, 3):
        ours = beam_search(decoder, start, BOS, EOS, beams, STEPS, 0.6)
        assert torch.equal(ours, beam_search(slow, src, BOS, EOS, beams, STEPS, 0.6))


def test_one_token_more_than_the_table_of_positions_is_refused():
    model, src, mask = translator(0)
    decoder = CachedDecoder(model)
    state = decoder.start(src, mask)
    for _ in range(STEPS):
        _, state = decoder.step(torch.full((4,), BOS), state)
    with pytest.raises(ValueError, match=r"length 10 .* max_len 9"):
        decoder.step(torch.full((4,), BOS), state)
