"""Exports the three programs of the quickstart as StableHLO text, and the losses that JAX itself computes with them.

    python digits.py            # writes init.mlir, step.mlir, evaluate.mlir, losses.json beside this file

Needs jax==0.10.2, numpy and pyarrow. The model is a classifier of 8x8 digits with one hidden layer, trained by SGD with
momentum, data-parallel over a mesh of 16 devices: rows of a batch are split over the axis `data`, weights are replicated.
"""

import functools
import json
import os
import pathlib

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=16"
os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
import numpy as np
import pyarrow.parquet as parquet
from jax.sharding import Mesh, NamedSharding, PartitionSpec

HERE = pathlib.Path(__file__).parent
PIXELS, HIDDEN, CLASSES = 64, 128, 10
HOSTS, DEVICES = 4, 16
BATCH = 256  # rows of a step, over all devices
HELD_OUT = 368  # 359 held-out rows, padded so that they divide by the devices
RATE, MOMENTUM, DECAY = 0.05, 0.9, 1e-4

jax.config.update("jax_use_shardy_partitioner", True)
mesh = Mesh(np.array(jax.devices()), ("data",))
rows = NamedSharding(mesh, PartitionSpec("data"))
whole = NamedSharding(mesh, PartitionSpec())


def init(seed):
    """Weights and momenta from a seed, `u32[]`."""
    key1, key2 = jax.random.split(jax.random.PRNGKey(seed))
    w1 = jax.random.normal(key1, (PIXELS, HIDDEN), jnp.float32) * jnp.sqrt(2.0 / PIXELS)
    w2 = jax.random.normal(key2, (HIDDEN, CLASSES), jnp.float32) * jnp.sqrt(2.0 / HIDDEN)
    weights = (w1, jnp.zeros(HIDDEN), w2, jnp.zeros(CLASSES))
    return weights + tuple(jnp.zeros_like(w) for w in weights)


def logits(weights, x):
    w1, b1, w2, b2 = weights
    return jax.nn.relu(x @ w1 + b1) @ w2 + b2


def loss_of(weights, x, y):
    chosen = jnp.take_along_axis(jax.nn.log_softmax(logits(weights, x)), y[:, None], axis=1)
    return -jnp.mean(chosen)


def step(*arguments):
    """Weights, momenta, `x: f32[256, 64]`, `y: i32[256]` -> weights, momenta, mean loss."""
    weights, momenta, (x, y) = arguments[:4], arguments[4:8], arguments[8:]
    loss, gradients = jax.value_and_grad(loss_of)(weights, x, y)
    momenta = tuple(MOMENTUM * m + g + DECAY * w for m, g, w in zip(momenta, gradients, weights))
    weights = tuple(w - RATE * m for w, m in zip(weights, momenta))
    return weights + momenta + (loss,)


def evaluate(*arguments):
    """Weights, `x: f32[368, 64]`, `y: i32[368]`, `counts: f32[368]` (1 for a row, 0 for padding) -> rows that are right."""
    weights, (x, y, counts) = arguments[:4], arguments[4:]
    right = jnp.argmax(logits(weights, x), axis=1) == y
    return jnp.sum(jnp.where(right, counts, 0.0))


def spec(shape, dtype, sharding):
    return jax.ShapeDtypeStruct(shape, dtype, sharding=sharding)


SHAPES = [(PIXELS, HIDDEN), (HIDDEN,), (HIDDEN, CLASSES), (CLASSES,)]
WEIGHTS = [spec(shape, jnp.float32, whole) for shape in SHAPES]
PROGRAMS = {
    "init": (jax.jit(init, out_shardings=whole), [spec((), jnp.uint32, whole)]),
    "step": (
        jax.jit(step, donate_argnums=range(8), out_shardings=whole),
        WEIGHTS + WEIGHTS + [spec((BATCH, PIXELS), jnp.float32, rows), spec((BATCH,), jnp.int32, rows)],
    ),
    "evaluate": (
        jax.jit(evaluate, out_shardings=whole),
        WEIGHTS
        + [
            spec((HELD_OUT, PIXELS), jnp.float32, rows),
            spec((HELD_OUT,), jnp.int32, rows),
            spec((HELD_OUT,), jnp.float32, rows),
        ],
    ),
}


class SplitMix64:
    """The generator of Steele, Lea and Flood (2014), as the example has it."""

    def __init__(self, seed):
        self.state = seed & (2**64 - 1)

    def next(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) & (2**64 - 1)
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & (2**64 - 1)
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & (2**64 - 1)
        return z ^ (z >> 31)


def shuffled(count, seed, epoch, host):
    """Fisher-Yates, from the end."""
    order = list(range(count))
    random = SplitMix64((seed << 32) ^ (epoch << 8) ^ host)
    for i in range(count - 1, 0, -1):
        j = random.next() % (i + 1)
        order[i], order[j] = order[j], order[i]
    return order


def shards():
    """The training rows of each host: row r of the file is held out if r % 5 == 4; the others go round the hosts."""
    table = parquet.read_table(HERE.parent.parent / "data" / "digits.parquet")
    x = np.array(table["pixels"].to_pylist(), np.float32)
    y = table["label"].to_numpy().astype(np.int32)
    kept = [r for r in range(len(y)) if r % 5 != 4]
    held = [r for r in range(len(y)) if r % 5 == 4]
    return [(x[kept[h::HOSTS]], y[kept[h::HOSTS]]) for h in range(HOSTS)], (x[held], y[held])


def train(seed, epochs):
    """The losses of every step, and the accuracy on the held-out rows."""
    hosts, (held_x, held_y) = shards()
    local = BATCH // HOSTS
    steps = min(len(y) for _, y in hosts) // local
    state, losses = PROGRAMS["init"][0](np.uint32(seed)), []
    for epoch in range(epochs):
        orders = [shuffled(len(y), seed, epoch, h) for h, (_, y) in enumerate(hosts)]
        for s in range(steps):
            chosen = [order[s * local : (s + 1) * local] for order in orders]
            x = np.concatenate([hosts[h][0][rows_] for h, rows_ in enumerate(chosen)])
            y = np.concatenate([hosts[h][1][rows_] for h, rows_ in enumerate(chosen)])
            *state, loss = PROGRAMS["step"][0](*state, jax.device_put(x, rows), jax.device_put(y, rows))
            losses.append(float(loss))
    pad = HELD_OUT - len(held_y)
    right = PROGRAMS["evaluate"][0](
        *state[:4],
        jax.device_put(np.pad(held_x, ((0, pad), (0, 0))), rows),
        jax.device_put(np.pad(held_y, (0, pad)), rows),
        jax.device_put(np.pad(np.ones(len(held_y), np.float32), (0, pad)), rows),
    )
    return losses, float(right), len(held_y)


if __name__ == "__main__":
    for name, (function, arguments) in PROGRAMS.items():
        (HERE / f"{name}.mlir").write_text(function.lower(*arguments).as_text() + "\n")
    losses, right, held = train(seed=0, epochs=40)
    print(f"{len(losses)} steps, loss {losses[0]:.4f} -> {losses[-1]:.4f}, {right:.0f} of {held} right")
    expected = {"seed": 0, "epochs": 40, "first_losses": losses[:20], "last_loss": losses[-1], "right": right}
    (HERE / "losses.json").write_text(json.dumps(expected, indent=1) + "\n")
