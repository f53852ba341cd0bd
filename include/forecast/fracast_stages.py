"""One stage of fracast's network: dilated depthwise convolution, gated layer, two norms.

Constant factors (norm weights, scale conditioning) are folded into neighbouring weights, so that
a stage is three passes of multiply-add, four matrix products and two norms. Only tensors: no
padding rule, no prices. The network that strings stages together: fracast_network.py.

Shapes: B series of one request, T positions, D model width (64), K taps (3).
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional


@dataclass(frozen=True, kw_only=True, eq=False)
class Stage:
    """One dilated convolution and gated layer with all constant factors folded in.

    Reads the previous stage's normalised rows before their weight; `gain_D` and `shift_D` hold
    that weight and the scale conditioning.
    """

    dilation: int
    taps_KD: Tensor  # on r[t - 2d], r[t - d], r[t]
    shifts_KD: Tensor  # what the shift adds through each tap
    tap_bias_D: Tensor
    gain_D: Tensor
    mix_bias_D: Tensor
    mix_DD: Tensor
    first_norm_D: Tensor
    gate_bias: Tensor
    gate: Tensor
    value_bias: Tensor
    value: Tensor
    down_bias_D: Tensor
    down: Tensor

    def constant_rows(self, first: int, count: int) -> Tensor:
        """Return the convolution's constant part at `count` positions from `first`, (count, D)."""
        rows = self.tap_bias_D + self.shifts_KD[2] + torch.zeros(count, 1)
        for tap, reach in ((0, 2 * self.dilation), (1, self.dilation)):
            rows[max(reach - first, 0) :] += self.shifts_KD[tap]
        return rows

    def handover_rows(self, past_TD: Tensor, count: int) -> Tensor:
        """Return what the past adds to the first rows of the next segment, (<= 2d, D)."""
        length = past_TD.shape[0]
        rows = self.constant_rows(length, min(2 * self.dilation, count))
        for tap, reach in ((0, 2 * self.dilation), (1, self.dilation)):
            first, last = max(reach - length, 0), min(reach, rows.shape[0])
            if first < last:
                source = past_TD[length + first - reach : length + last - reach]
                rows[first:last].addcmul_(source, self.taps_KD[tap])
        return rows

    def convolved(self, rows_BTD: Tensor, starts_BTD: Tensor) -> Tensor:
        """Return the depthwise convolution; `starts_BTD` holds what lies before the segment."""
        count, begun = rows_BTD.shape[1], starts_BTD.shape[1]
        out = torch.empty_like(rows_BTD)
        out[:, :begun] = starts_BTD
        out[:, begun:] = self.tap_bias_D + self.shifts_KD.sum(dim=0)
        for tap, reach in ((0, 2 * self.dilation), (1, self.dilation), (2, 0)):
            if reach < count:
                out[:, reach:].addcmul_(rows_BTD[:, : count - reach], self.taps_KD[tap])
        return out

    def mixed_rows(self, rows_BTD: Tensor, convolved_BTD: Tensor) -> Tensor:
        """Return the stage's normalised rows, before their weight, shape (B, T, D)."""
        hidden = torch.addcmul(self.mix_bias_D, rows_BTD, self.gain_D).flatten(0, 1)
        convolved = convolved_BTD.flatten(0, 1)
        normalised = unit_rows_(hidden.addmm_(convolved, self.mix_DD))
        gate = torch.addmm(self.gate_bias, normalised, self.gate)
        value = torch.addmm(self.value_bias, normalised, self.value)
        gated = functional.silu(gate, inplace=True).mul_(value)
        out = torch.addcmul(self.down_bias_D, normalised, self.first_norm_D)
        return unit_rows_(out.addmm_(gated, self.down)).view_as(rows_BTD)

    def continued_rows(self, rows_BTD: Tensor) -> Tensor:
        """Return the stage's rows without the first 2 d, whose past is not given."""
        reach = 2 * self.dilation
        oldest, middle = rows_BTD[:, :-reach], rows_BTD[:, self.dilation : -self.dilation]
        newest = rows_BTD[:, reach:].contiguous()
        bias = self.tap_bias_D + self.shifts_KD.sum(dim=0)
        convolved = torch.addcmul(bias, oldest, self.taps_KD[0])
        convolved.addcmul_(middle, self.taps_KD[1]).addcmul_(newest, self.taps_KD[2])
        return self.mixed_rows(newest, convolved)


def unit_rows_(rows: Tensor) -> Tensor:
    """Scale rows in place to a root mean square of 1, as RMSNorm without its weight."""
    norms = torch.linalg.vector_norm(rows, dim=-1, keepdim=True)
    mean_squares = norms.square_().div_(rows.shape[-1])
    return rows.mul_(mean_squares.add_(torch.finfo(torch.float32).eps).rsqrt_())


def folded_stage(
    block: nn.Module, *, dilation: int, weight_D: Tensor, scale: nn.Module | None
) -> Stage:
    """Return a stage for rows that still lack `weight_D`, scale conditioning included."""
    width = weight_D.shape[0]
    gain, shift = weight_D, torch.zeros(width)
    if scale is not None:
        factor, shift = scale.gamma_beta([dilation])[0].chunk(2)
        gain = weight_D * (1.0 + factor)
    taps = block.dw_weight[:, 0].T
    up = block.ffn.up.weight * block.norm1.weight
    return Stage(
        dilation=dilation,
        taps_KD=(taps * gain).contiguous(),
        shifts_KD=(taps * shift).contiguous(),
        tap_bias_D=block.dw_bias,
        gain_D=gain,
        mix_bias_D=block.pw.bias + shift,
        mix_DD=block.pw.weight.T,
        first_norm_D=block.norm1.weight,
        gate_bias=block.ffn.up.bias[: up.shape[0] // 2],
        gate=up[: up.shape[0] // 2].T,
        value_bias=block.ffn.up.bias[up.shape[0] // 2 :],
        value=up[up.shape[0] // 2 :].T,
        down_bias_D=block.ffn.down.bias,
        down=block.ffn.down.weight.T,
    )
