"""Keys and values of one attention: a prefix that all paths share, and each path's own suffix.

The prefix is read once for all paths of a symbol; nothing of it is ever replicated. Prefixes of
unequal length are padded on the right and masked.

Shape suffixes: B symbols, H heads, S paths, P prefix positions, N suffix positions so far, M new
positions, E head width.
"""

import math

import torch
from torch import Tensor


class SharedCache:
    """A prefix of keys and values per symbol, and room for the suffix of every path."""

    def __init__(
        self,
        keys_BHPE: Tensor,
        values_BHPE: Tensor,
        *,
        mask_BP: Tensor | None,
        n_paths: int,
        room: int,
    ) -> None:
        B, H, _, E = keys_BHPE.shape
        self._prefix_keys_BHPE = keys_BHPE.contiguous()
        self._prefix_values_BHPE = values_BHPE.contiguous()
        self._mask_B11P = None if mask_BP is None else mask_BP[:, None, None]
        self._keys_BHSNE = keys_BHPE.new_empty(B, H, n_paths, room, E)
        self._values_BHSNE = values_BHPE.new_empty(B, H, n_paths, room, E)
        self._used = 0

    def append(self, keys_BHSME: Tensor, values_BHSME: Tensor) -> None:
        """Add new positions of every path; there must be room."""
        end = self._used + keys_BHSME.shape[3]
        self._keys_BHSNE[:, :, :, self._used : end] = keys_BHSME
        self._values_BHSNE[:, :, :, self._used : end] = values_BHSME
        self._used = end

    def attend(self, queries_BHSME: Tensor) -> Tensor:
        """Return what queries of the newest positions attend to, same shape.

        One softmax runs over prefix and own suffix together. A query sees the whole prefix, and
        the suffix up to its own position.
        """
        B, H, S, M, E = queries_BHSME.shape
        P = self._prefix_keys_BHPE.shape[2]
        weights = self._weights(queries_BHSME / math.sqrt(E))
        shared = weights[..., :P].reshape(B, H, S * M, P) @ self._prefix_values_BHPE
        if not self._used:
            return shared.view(B, H, S, M, E)
        own = weights[..., P:] @ self._values_BHSNE[:, :, :, : self._used]
        return shared.view(B, H, S, M, E) + own

    def _weights(self, scaled_BHSME: Tensor) -> Tensor:
        """Return softmax weights over prefix and suffix, (B, H, S, M, P + N)."""
        B, H, S, M, E = scaled_BHSME.shape
        shared = scaled_BHSME.view(B, H, S * M, E) @ self._prefix_keys_BHPE.mT
        if self._mask_B11P is not None:
            shared = shared + self._mask_B11P
        scores = shared.view(B, H, S, M, -1)
        if self._used:
            own = scaled_BHSME @ self._keys_BHSNE[:, :, :, : self._used].mT
            scores = torch.cat([scores, own + _later(M, self._used, own)], dim=-1)
        return torch.softmax(scores, dim=-1, dtype=torch.float32).to(scaled_BHSME.dtype)


def _later(M: int, N: int, like: Tensor) -> Tensor:
    """Return minus infinity where one of the M newest positions would see a later one, (M, N)."""
    hidden = like.new_full((M, N), -math.inf)
    return hidden.triu(N - M + 1)


def padding_mask(lengths: list[int], *, device: torch.device) -> Tensor | None:
    """Return minus infinity on padded positions of prefixes, (B, P); None where none is padded."""
    longest = max(lengths)
    if min(lengths) == longest:
        return None
    positions = torch.arange(longest, device=device)
    padded = positions[None] >= torch.tensor(lengths, device=device)[:, None]
    return torch.zeros(padded.shape, device=device).masked_fill(padded, -math.inf)
