"""One stage of fracast's network: dilated depthwise convolution, gated layer, two norms.

Constant factors (norm weights, scale conditioning) are folded into neighbouring weights, and every
product writes into a workspace that all stages share. Only tensors: no padding rule, no prices.
The network that strings stages together: fracast_network.py.

Shapes: B series of one request, T positions, D model width (64), G gate width (96), K taps (3).
Rows between stages are unit rows (root mean square 1); their norm's weight is in the next stage.
"""

from dataclasses import dataclass

import torch
from fracast._core.self_similar_block import ScaleCondition, SelfSimilarBlock
from torch import Tensor
from torch.nn import functional

EPSILON = torch.finfo(torch.float32).eps  # of the package's RMSNorm


@dataclass(frozen=True, kw_only=True, eq=False)
class Workspace:
    """Scratch tensors for B x T rows that every stage writes: fresh memory is slow."""

    convolved: Tensor  # (B, T, D)
    hidden: Tensor  # (B, T, D)
    gated: Tensor  # (B T, 2 G)
    product: Tensor  # (B T, G)


def workspace(series: int, positions: int, *, width: int, gate_width: int) -> Workspace:
    """Return scratch tensors for stages over so many series and positions."""
    return Workspace(
        convolved=torch.empty(series, positions, width),
        hidden=torch.empty(series, positions, width),
        gated=torch.empty(series * positions, 2 * gate_width),
        product=torch.empty(series * positions, gate_width),
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class Stage:
    """Weights of one stage, with the weight and the conditioning of its input folded in."""

    dilation: int
    taps: Tensor  # (K, D), on rows t - 2d, t - d and t
    shifts: Tensor  # (K, D), what the conditioning's shift adds through each tap
    tap_bias: Tensor  # (D,), as all biases and gains here but `up_bias`, (2 G,)
    gain: Tensor
    mix_bias: Tensor
    mix: Tensor  # (D, D)
    first_norm: Tensor
    up_bias: Tensor
    up: Tensor  # (D, 2 G)
    down_bias: Tensor
    down: Tensor  # (G, D)

    @property
    def older_taps(self) -> tuple[tuple[Tensor, Tensor, int], ...]:
        """Weight, shift and distance of the two taps that reach back."""
        return (
            (self.taps[0], self.shifts[0], 2 * self.dilation),
            (self.taps[1], self.shifts[1], self.dilation),
        )

    def first_rows(self, count: int) -> Tensor:
        """Return the convolution's constant part where taps reach before position 0, (2d, D)."""
        return self.handover_rows(self.taps.new_empty(0, self.taps.shape[1]), count)

    def handover_rows(self, past_TD: Tensor, count: int) -> Tensor:
        """Return what the whole past adds to the next `count` rows, shape (<= 2d, D)."""
        length, width = past_TD.shape
        begun = min(2 * self.dilation, count)
        rows = (self.tap_bias + self.shifts[2]).expand(begun, width).clone()
        for tap, shift, reach in self.older_taps:
            first, last = max(reach - length, 0), min(reach, begun)
            rows[first:] += shift
            if first < last:
                rows[first:last].addcmul_(past_TD[length + first - reach :][: last - first], tap)
        return rows

    def convolve(self, rows_BTD: Tensor, starts_BTD: Tensor, space: Workspace) -> None:
        """Write the convolution to the workspace; `starts_BTD` is what earlier rows add to it."""
        count, begun = rows_BTD.shape[1], starts_BTD.shape[1]
        out = space.convolved
        out[:, :begun] = starts_BTD
        if begun < count:
            out[:, begun:] = self.tap_bias + self.shifts.sum(dim=0)
        for tap, _, reach in self.older_taps:
            if reach < count:
                out[:, reach:].addcmul_(rows_BTD[:, : count - reach], tap)
        out.addcmul_(rows_BTD, self.taps[2])

    def mix_(self, rows_BTD: Tensor, space: Workspace) -> Tensor:
        """Replace the rows, whose convolution is in the workspace, by the stage's rows."""
        hidden = torch.addcmul(self.mix_bias, rows_BTD, self.gain, out=space.hidden)
        hidden = hidden.flatten(0, 1)
        unit_rows_(hidden.addmm_(space.convolved.flatten(0, 1), self.mix))
        gated = torch.addmm(self.up_bias, hidden, self.up, out=space.gated)
        gate, value = gated.chunk(2, dim=-1)
        product = torch.mul(functional.silu(gate, inplace=True), value, out=space.product)
        out = rows_BTD.flatten(0, 1)
        torch.addcmul(self.down_bias, hidden, self.first_norm, out=out)
        unit_rows_(out.addmm_(product, self.down))
        return rows_BTD

    def continued_rows(self, rows_BTD: Tensor) -> Tensor:
        """Return the stage's rows without the first 2d, whose past is not given."""
        newest = rows_BTD[:, 2 * self.dilation :].contiguous()
        series, positions, width = newest.shape
        space = workspace(series, positions, width=width, gate_width=self.down.shape[0])
        bias = self.tap_bias + self.shifts.sum(dim=0)
        torch.addcmul(bias, newest, self.taps[2], out=space.convolved)
        for tap, _, reach in self.older_taps:
            first = 2 * self.dilation - reach
            space.convolved.addcmul_(rows_BTD[:, first : first + positions], tap)
        return self.mix_(newest, space)


def unit_rows_(rows: Tensor) -> Tensor:
    """Scale rows in place to a root mean square of 1: RMSNorm without its weight."""
    width = rows.shape[-1]
    norms = torch.linalg.vector_norm(rows, dim=-1, keepdim=True)
    return rows.mul_(norms.square_().div_(width).add_(EPSILON).rsqrt_())


def folded_stage(
    block: SelfSimilarBlock, *, dilation: int, weight_D: Tensor, scale: ScaleCondition | None
) -> Stage:
    """Return a stage that reads rows still lacking `weight_D` and the scale conditioning."""
    gain, shift = weight_D, torch.zeros_like(weight_D)
    if scale is not None:
        factor, shift = scale.gamma_beta([dilation])[0].chunk(2)
        gain = weight_D * (1.0 + factor)
    taps = block.dw_weight[:, 0].T
    return Stage(
        dilation=dilation,
        taps=(taps * gain).contiguous(),
        shifts=(taps * shift).contiguous(),
        tap_bias=block.dw_bias,
        gain=gain,
        mix_bias=block.pw.bias + shift,
        mix=block.pw.weight.T.contiguous(),
        first_norm=block.norm1.weight,
        up_bias=block.ffn.up.bias,
        up=(block.ffn.up.weight * block.norm1.weight).T.contiguous(),
        down_bias=block.ffn.down.bias,
        down=block.ffn.down.weight.T.contiguous(),
    )
