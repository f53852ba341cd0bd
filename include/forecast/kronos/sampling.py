"""One token from logits, and the uniform numbers that choose it.

Numbers are a pure function of (seed, symbol, context end, path, step): no generator has state, so
a path depends neither on its batch nor on how many other paths or steps were asked for.

Shape suffixes: R rows of logits, K draws of a row, V vocabulary, S paths, N steps.
"""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from include.forecast.kronos.config import SamplingRule

# Philox4x32-10: Salmon, Moraes, Dror, Shaw (2011), "Parallel random numbers: as easy as 1, 2, 3".
_ROUNDS = 10
_MULTIPLIERS = (np.uint64(0xD2511F53), np.uint64(0xCD9E8D57))
_WEYL = (0x9E3779B9, 0xBB67AE85)
_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)


def philox_words(
    counters: tuple[NDArray[np.uint64], ...], key: tuple[int, int]
) -> tuple[NDArray[np.uint64], ...]:
    """Return four 32-bit words per counter; counters are four arrays of 32-bit words."""
    c0, c1, c2, c3 = counters
    for turn in range(_ROUNDS):
        first, second = (
            np.uint64((word + turn * weyl) & 0xFFFFFFFF)
            for word, weyl in zip(key, _WEYL, strict=True)
        )
        left, right = c0 * _MULTIPLIERS[0], c2 * _MULTIPLIERS[1]
        c0, c1, c2, c3 = (
            (right >> _HALF) ^ c1 ^ first,
            right & _LOW,
            (left >> _HALF) ^ c3 ^ second,
            left & _LOW,
        )
    return c0, c1, c2, c3


def path_uniforms(seed: tuple[int, int], *, n_paths: int, steps: int) -> NDArray[np.float64]:
    """Return uniforms in [0, 1) of 52 bits, shape (n_paths, steps, 2): coarse and fine draw.

    The counter of Philox is (path, step, second word of the seed), its key the first word.
    """
    shape = (n_paths, steps)
    path, step = (axis.astype(np.uint64) for axis in np.indices(shape))
    high, low = np.uint64(seed[1] >> 32), np.uint64(seed[1] & 0xFFFFFFFF)
    counters = (path, step, np.full(shape, high), np.full(shape, low))
    words = philox_words(counters, (seed[0] >> 32, seed[0] & 0xFFFFFFFF))
    both = np.stack([words[0] << _HALF | words[1], words[2] << _HALF | words[3]], axis=-1)
    uniforms: NDArray[np.float64] = (both >> np.uint64(12)) * 2.0**-52
    return uniforms


def draw(logits_RV: Tensor, uniforms_RK: Tensor, rule: SamplingRule) -> Tensor:
    """Return K tokens per row by the inverse distribution function in token order, (R, K).

    Top-k of 1 is the largest logit, whatever the uniforms.
    """
    if rule.top_k == 1:
        return logits_RV.argmax(dim=-1, keepdim=True).expand(uniforms_RK.shape)
    probabilities = torch.softmax(kept_logits(logits_RV, rule), dim=-1, dtype=torch.float64)
    distribution = probabilities.cumsum(dim=-1)
    return torch.searchsorted(distribution, uniforms_RK * distribution[:, -1:], right=True)


def kept_logits(logits_RV: Tensor, rule: SamplingRule) -> Tensor:
    """Return logits over the temperature, minus infinity where the rule drops a token."""
    scaled = logits_RV / rule.temperature
    if rule.top_k > 0:
        smallest = scaled.topk(min(rule.top_k, scaled.shape[-1])).values[:, -1:]
        return scaled.masked_fill(scaled < smallest, -torch.inf)
    if rule.top_p < 1.0:
        return _nucleus(scaled, rule.top_p)
    return scaled


def _nucleus(scaled_RV: Tensor, top_p: float) -> Tensor:
    """Drop every token after the first at which the cumulative probability exceeds `top_p`."""
    falling, order = scaled_RV.sort(descending=True)
    above = torch.softmax(falling, dim=-1).cumsum(dim=-1) > top_p
    dropped = torch.zeros_like(above)
    dropped[:, 1:] = above[:, :-1]
    return scaled_RV.masked_fill(dropped.scatter(1, order, dropped), -torch.inf)
