"""The blocks that trunk and tokenizer are made of, as functions of frozen weights.

There is no dropout and no training mode: what upstream's modules do in eval mode is all there is.
Formulas: Kronos (arXiv 2508.02739) as published by its authors; caches: kv_cache.py.

Shape suffixes: B symbols, S paths of a symbol, T positions of a prefix, M positions run at once
after it, D model width, F feed-forward width, H heads, E head width.
"""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from include.forecast.kronos.kv_cache import SharedCache

NORM_EPSILON = 1e-5
ROTARY_BASE = 10_000.0


@dataclass(frozen=True, kw_only=True, eq=False)
class BlockWeights:
    """One pre-norm block: query, key and value in one matrix, gate and up in another."""

    n_heads: int
    attention_norm_D: Tensor
    qkv_weight: Tensor
    qkv_bias: Tensor
    out_weight: Tensor
    out_bias: Tensor
    feed_norm_D: Tensor
    gate_up_weight: Tensor
    down_weight: Tensor


@dataclass(frozen=True, kw_only=True, eq=False)
class Angles:
    """Cosines and sines of half a head's rotary angles, float32, shape (1 or B, M, 1, 1, E/2)."""

    cos: Tensor
    sin: Tensor


def rms_norm(x: Tensor, weight_D: Tensor, dtype: torch.dtype) -> Tensor:
    """Return x over its root mean square, in float32 whatever the trunk's format, then cast."""
    return F.rms_norm(x, weight_D.shape, weight_D, NORM_EPSILON).to(dtype)


def rotary_angles(positions: Tensor, head_width: int) -> Angles:
    """Return the angles of positions, shape (1 or B, M), counted from the window's first token."""
    pairs = torch.arange(0, head_width, 2, device=positions.device).float()
    frequencies = 1.0 / (ROTARY_BASE ** (pairs / head_width))
    angles = positions.float()[:, :, None, None, None] * frequencies
    return Angles(cos=angles.cos(), sin=angles.sin())


def rotated(x: Tensor, angles: Angles) -> Tensor:
    """Return x, shape (B, M, parts, H, E), turned by the angles of its positions (GPT-NeoX)."""
    first, second = x.float().chunk(2, dim=-1)
    cos, sin = angles.cos, angles.sin
    turned = torch.cat([first * cos - second * sin, second * cos + first * sin], dim=-1)
    return turned.to(x.dtype)


def block_over_prefix(
    x_BTD: Tensor, block: BlockWeights, angles: Angles
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the block's output over a whole prefix, and its keys and values (B, H, T, E)."""
    q, k, v = (part.transpose(1, 2) for part in _qkv(x_BTD, block, angles))
    attended = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    x_BTD = _after_attention(x_BTD, attended.transpose(1, 2).flatten(2), block)
    return x_BTD, k, v


def keys_and_values(x_BTD: Tensor, block: BlockWeights, angles: Angles) -> tuple[Tensor, Tensor]:
    """Return a block's keys and values over a prefix, where its output is not needed."""
    _, k, v = _qkv(x_BTD, block, angles)
    return k.transpose(1, 2), v.transpose(1, 2)


def block_over_suffix(
    x_BRD: Tensor, block: BlockWeights, cache: SharedCache, angles: Angles
) -> Tensor:
    """Return the block's output for new positions of every path; append them to the cache.

    The rows R are (S, M), path-major; `angles` are of M positions.
    """
    B, R, _ = x_BRD.shape
    M = angles.cos.shape[1]
    q, k, v = (
        part.view(B, R // M, M, block.n_heads, -1).permute(0, 3, 1, 2, 4)
        for part in _qkv(x_BRD, block, _for_every_path(angles, R // M))
    )
    cache.append(k, v)
    attended = cache.attend(q.contiguous())
    return _after_attention(x_BRD, attended.permute(0, 2, 3, 1, 4).reshape(B, R, -1), block)


def _for_every_path(angles: Angles, paths: int) -> Angles:
    return Angles(
        cos=angles.cos.repeat(1, paths, 1, 1, 1), sin=angles.sin.repeat(1, paths, 1, 1, 1)
    )


def _qkv(x_BMD: Tensor, block: BlockWeights, angles: Angles) -> tuple[Tensor, Tensor, Tensor]:
    """Return rotated queries and keys, and values, each (B, M, H, E)."""
    normed = rms_norm(x_BMD, block.attention_norm_D, block.qkv_weight.dtype)
    qkv = F.linear(normed, block.qkv_weight, block.qkv_bias)
    qkv = qkv.view(*x_BMD.shape[:2], 3, block.n_heads, -1)
    turned = rotated(qkv[:, :, :2], angles)
    return turned[:, :, 0], turned[:, :, 1], qkv[:, :, 2]


def _after_attention(x: Tensor, attended: Tensor, block: BlockWeights) -> Tensor:
    """Return the block's output from its input and what its heads attended to, both (B, M, D)."""
    x = x + F.linear(attended, block.out_weight, block.out_bias)
    normed = rms_norm(x, block.feed_norm_D, block.gate_up_weight.dtype)
    gate, up = F.linear(normed, block.gate_up_weight).chunk(2, dim=-1)
    return x + F.linear(F.silu(gate) * up, block.down_weight)
