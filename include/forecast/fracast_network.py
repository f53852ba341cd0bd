"""Fracast's network, evaluated exactly at a fraction of its cost (models.md section 13).

The package pads every context to 2,048 positions and convolves all of them. Here the padded
prefix, which no price can reach, is computed once per set of detected periods and kept; only the
context itself is convolved again. Constant factors (norm weights, scale conditioning, recency
features) are folded into neighbouring weights at load. The numbers are the package's own
parameters; no code of it is copied. Equality is checked in tests/forecast/test_fracast.py and in
benchmarks/bench_fracast.py. Engine and sample paths: fracast.py.

Shapes: B series of one request, T positions, D model width (64), H steps, Q quantile levels.
"""

from collections import OrderedDict
from dataclasses import dataclass
from typing import cast

import numpy as np
import torch
from fracast import FracastModel
from fracast._core.gather_head import GatherQuantileHead
from fracast._core.model import FracastCore
from fracast._core.periodic.official_encoding import _phase_encoding, _recency_encoding
from fracast._core.periodic.seasonal_fill import detect_periods
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from include.errors import CheckpointMismatch
from include.forecast.fracast_stages import (
    Stage,
    Workspace,
    folded_stage,
    unit_rows_,
    workspace,
)

MINIMUM_BARS = 8  # fewer finite values are refused by the package
SPAN_FLOOR = 1e-5  # the package's floor of max - min, in the units of the context
KEPT_WORKSPACES = 4  # of a context and its prefix, twice
KEPT_PREFIXES = 128  # about 0.4 MB each for a context of 512


@dataclass(frozen=True, kw_only=True, eq=False)
class _Prefix:
    """What the context needs of the padded positions before it: depends on the periods alone."""

    starts: list[Tensor]  # per stage, (<= 2 dilation, D)
    total: Tensor  # of the encoded rows, (D,)
    tail: Tensor  # the newest rows, (T, D), for contexts shorter than the decoder's seed


class FracastNetwork:
    """Nine quantiles per step for the series of one request, equal to the package's own.

    Keeps scratch memory and prefixes between calls: one thread at a time.
    """

    def __init__(self, model: FracastModel) -> None:
        core, head = cast(FracastCore, model.core), cast(GatherQuantileHead, model.head)
        if core.block is None or core.periodic is None or head.future_conv is None:
            fault = "its stages aren't shared, or it lacks periods or the future's convolution"
            raise CheckpointMismatch(path="of fracast", fault=fault)
        self._core, self._block, self._periodic = core, core.block, core.periodic
        self._head, self._future_conv = head, head.future_conv
        self.padded_length = int(model.context_length)
        self.native_horizon = int(model.horizon)
        self.levels = tuple(float(level) for level in model.quantiles)
        self._prefixes: OrderedDict[tuple[int, ...], _Prefix] = OrderedDict()
        self._spaces: dict[tuple[int, int], Workspace] = {}
        with torch.inference_mode():
            self._stages = self._folded_stages()
            self._future_stages = self._folded_future_stages()
            self._fold_features()

    def quantiles(self, contexts: NDArray[np.float32], horizon: int) -> NDArray[np.float64]:
        """Return quantiles in the units of the contexts, shape (B, horizon, Q), not sorted.

        `contexts` has shape (B, T), oldest first, T >= 8, all finite; only the newest 2,048 are
        read. Each series is normalised by its own minimum and maximum. Horizons beyond the
        native 48 feed the median back, as the package does.
        """
        blocks: list[NDArray[np.float64]] = []
        source, median = contexts, len(self.levels) // 2
        for first in range(0, horizon, self.native_horizon):
            count = min(self.native_horizon, horizon - first)
            if blocks:
                fed_back = blocks[-1][:, :, median].astype(np.float32)
                source = np.concatenate([source, fed_back], axis=1)
            blocks.append(self._native_block(source[:, -self.padded_length :], count))
        return np.concatenate(blocks, axis=1)

    def _native_block(self, contexts: NDArray[np.float32], horizon: int) -> NDArray[np.float64]:
        """Return at most the native horizon of quantiles."""
        lows = contexts.min(axis=1, keepdims=True).astype(np.float64)
        spans = np.maximum(contexts.max(axis=1, keepdims=True) - lows, SPAN_FLOOR)
        normalised = ((contexts - lows) / spans).astype(np.float32)
        with torch.inference_mode():
            found = self._normalised_quantiles(torch.from_numpy(normalised), horizon).numpy()
        quantiles: NDArray[np.float64] = found * spans[:, :, None] + lows[:, :, None]
        return quantiles

    def _normalised_quantiles(self, values_BT: Tensor, horizon: int) -> Tensor:
        """Encode the context and decode its future, in normalised units."""
        periods = self._periods(values_BT)
        prefixes = [self._prefix(tuple(row), values_BT.shape[1]) for row in periods.tolist()]
        encoded = self._encoded(values_BT, periods, prefixes)
        mean = encoded.sum(dim=1) + torch.stack([prefix.total for prefix in prefixes])
        summary = torch.cat([mean / self.padded_length, encoded[:, -1]], dim=-1)
        states = self._queried(summary, horizon)
        states = states + self._future(values_BT, periods, encoded, prefixes, horizon)
        return functional.linear(states, self._head.out_proj.weight, self._head.out_proj.bias)

    def _folded_stages(self) -> list[Stage]:
        """Return the encoder's ladder; the first stage reads rows that have no norm yet."""
        block, dilations = self._block, self._core.dilations()
        weights = [torch.ones(self._core.d), *[block.norm2.weight] * (len(dilations) - 1)]
        return [
            folded_stage(block, dilation=dilation, weight_D=weight, scale=self._core.scale)
            for dilation, weight in zip(dilations, weights, strict=True)
        ]

    def _folded_future_stages(self) -> list[Stage]:
        """Return the decoder's ladder over the newest encoded rows and the steps."""
        future = self._future_conv
        dilations = [future.dilation_base**level for level in range(future.n_layers)]
        weights = [torch.ones(future.d), *[future.block.norm2.weight] * (len(dilations) - 1)]
        return [
            folded_stage(future.block, dilation=dilation, weight_D=weight, scale=None)
            for dilation, weight in zip(dilations, weights, strict=True)
        ]

    def _fold_features(self) -> None:
        """Keep what depends on positions alone: input rows, query rows, rows of the future."""
        length, horizon = self.padded_length, self.native_horizon
        past = _recency_encoding(torch.arange(length)[None], length)[0]
        ahead = _recency_encoding(torch.arange(length, length + horizon)[None], length)[0]
        project, periodic = self._core.in_proj, self._periodic.proj
        self._input_TD = functional.linear(past, project.weight[:, 2:], project.bias)
        self._input_TD += periodic.bias
        head = self._head
        features = ahead.shape[1]
        self._query_HD = head.queries + functional.linear(
            ahead, head.summary_proj.weight[:, :features], head.summary_proj.bias
        )
        self._summary_weight = head.summary_proj.weight[:, features:].contiguous()
        future = self._future_conv.in_proj
        self._future_HD = functional.linear(ahead, future.weight[:, 1:], future.bias)

    def _periods(self, values_BT: Tensor) -> Tensor:
        """Return the periods that the package detects in the padded series, shape (B, 4)."""
        padding = (self.padded_length - values_BT.shape[1], 0)
        padded = functional.pad(values_BT, padding)
        observed = functional.pad(torch.ones_like(values_BT, dtype=torch.bool), padding)
        found: Tensor = detect_periods(padded, observed, **self._head.period_kw)
        return found

    def _workspace(self, series: int, positions: int) -> Workspace:
        """Return the scratch tensors of that shape, kept while the shape stays the same."""
        found = self._spaces.get((series, positions))
        if found is None:
            if len(self._spaces) >= KEPT_WORKSPACES:
                self._spaces.clear()
            gate_width = self._block.ffn.down.in_features
            found = workspace(series, positions, width=self._core.d, gate_width=gate_width)
            self._spaces[series, positions] = found
        return found

    def _input_rows(self, periods: Tensor, first: int, last: int) -> Tensor:
        """Return the input rows of positions [first, last) without their values, (B, T, D)."""
        positions = torch.arange(first, last).expand(periods.shape[0], -1)
        phases = _phase_encoding(positions, periods, n_harmonics=self._periodic.n_harm)
        weight = self._periodic.proj.weight
        return functional.linear(phases, weight) + self._input_TD[first:last]

    def _normed(self, rows: Tensor) -> Tensor:
        """Return the encoder's output rows from the last stage's."""
        return unit_rows_(rows * self._block.norm2.weight) * self._core.norm.weight

    def _prefix(self, periods: tuple[int, ...], context_bars: int) -> _Prefix:
        """Return the encoded padding before a context, from memory where it is known."""
        key = (context_bars, *periods)
        if key in self._prefixes:
            self._prefixes.move_to_end(key)
        else:
            self._prefixes[key] = self._encoded_prefix(periods, context_bars)
        if len(self._prefixes) > KEPT_PREFIXES:
            self._prefixes.popitem(last=False)
        return self._prefixes[key]

    def _encoded_prefix(self, periods: tuple[int, ...], context_bars: int) -> _Prefix:
        """Encode the padded positions, which hold no price: value 0, coverage 0."""
        length = self.padded_length - context_bars
        rows = self._input_rows(torch.tensor([periods]), 0, length)
        space = self._workspace(1, length)
        starts: list[Tensor] = []
        for stage in self._stages:
            starts.append(stage.handover_rows(rows[0], context_bars))
            stage.convolve(rows, stage.first_rows(length)[None], space)
            rows = stage.mix_(rows, space)
        encoded = self._normed(rows[0])
        tail = encoded[max(length - self._future_conv.seed, 0) :].clone()
        return _Prefix(starts=starts, total=encoded.sum(dim=0), tail=tail)

    def _encoded(self, values_BT: Tensor, periods: Tensor, prefixes: list[_Prefix]) -> Tensor:
        """Encode the context's own positions after the prefix of each series, (B, T, D)."""
        first = self.padded_length - values_BT.shape[1]
        weight = self._core.in_proj.weight
        rows = self._input_rows(periods, first, self.padded_length) + weight[:, 1]
        rows.addcmul_(values_BT[:, :, None], weight[:, 0])
        space = self._workspace(*values_BT.shape)
        for index, stage in enumerate(self._stages):
            starts = torch.stack([prefix.starts[index] for prefix in prefixes])
            stage.convolve(rows, starts, space)
            rows = stage.mix_(rows, space)
        return self._normed(rows)

    def _queried(self, summary: Tensor, horizon: int) -> Tensor:
        """Return the steps' states from the summary of the encoded series, (B, H, D)."""
        head = self._head
        states = self._query_HD[:horizon] + (summary @ self._summary_weight.T)[:, None]
        for gated, norm in zip(head.decoder_ffns, head.decoder_norms, strict=True):
            states = norm(states + gated(states))
        for block in head.fc_blocks:
            states = block(states)
        return states

    def _future(
        self,
        values_BT: Tensor,
        periods: Tensor,
        encoded: Tensor,
        prefixes: list[_Prefix],
        horizon: int,
    ) -> Tensor:
        """Return the convolved states of the future steps, computing only what they depend on."""
        future = self._future_conv
        seed = encoded[:, -future.seed :]
        if seed.shape[1] < future.seed:
            missing = future.seed - seed.shape[1]
            tails = torch.stack([prefix.tail[-missing:] for prefix in prefixes])
            seed = torch.cat([tails, seed], dim=1)
        fill = self._seasonal_fill(values_BT, periods, horizon)
        steps = torch.addcmul(
            self._future_HD[:horizon], fill[:, :, None], future.in_proj.weight[:, 0]
        )
        rows = torch.cat([seed, steps], dim=1)
        for stage in self._future_stages:
            rows = stage.continued_rows(rows)
        rows = rows[:, -horizon:] * future.block.norm2.weight
        return functional.linear(rows, future.out_proj.weight, future.out_proj.bias)

    def _seasonal_fill(self, values_BT: Tensor, periods: Tensor, horizon: int) -> Tensor:
        """Return the mean of the series at each step's phase of the main period, (B, H)."""
        bins, first = self._head.phase_bins, self.padded_length - values_BT.shape[1]
        main = periods[:, :1].clamp(min=1).float()
        positions = torch.arange(first, self.padded_length + horizon).float()
        phases = ((positions % main) / main * bins).long().clamp(max=bins - 1)
        known, ahead = phases[:, :-horizon], phases[:, -horizon:]
        sums = torch.zeros(len(values_BT), bins).scatter_add_(1, known, values_BT)
        counts = torch.zeros_like(sums).scatter_add_(1, known, torch.ones_like(values_BT))
        means = torch.where(
            counts > 0, sums / counts.clamp(min=1.0), values_BT.mean(dim=1, keepdim=True)
        )
        return means.gather(1, ahead)
