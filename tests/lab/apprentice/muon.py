"""Muon, the optimizer of the matrices."""

import torch


class Muon:
    """Momentum whose update is made orthogonal, for matrices; those of one shape are handled together."""

    def __init__(self, parameters, momentum=0.95):
        self.momentum = momentum
        shapes = {}
        for p in parameters:
            shapes.setdefault(tuple(p.shape), []).append(p)
        self.groups = list(shapes.values())
        self.buffers = [torch.zeros_like(torch.stack(group)) for group in self.groups]

    @torch.no_grad()
    def step(self, rate):
        for group, buffer in zip(self.groups, self.buffers):
            gradient = torch.stack([p.grad for p in group])
            buffer.lerp_(gradient, 1 - self.momentum)
            updates = orthogonal(gradient.lerp(buffer, self.momentum))
            rows, columns = group[0].shape
            for p, update in zip(group, updates):
                p.add_(update, alpha=-rate * max(1, rows / columns) ** 0.5)


def orthogonal(x, steps=5):
    """Newton and Schulz's iteration over a stack of matrices."""
    flip = x.shape[1] > x.shape[2]
    x = x.mT if flip else x
    x = x / (x.flatten(1).norm(dim=1)[:, None, None] + 1e-7)
    for _ in range(steps):
        square = x @ x.mT
        x = 3.4445 * x + (-4.7750 * square + 2.0315 * square @ square) @ x
    return x.mT if flip else x
