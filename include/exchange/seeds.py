"""Random generators and identities that are functions of the seed and a name alone."""

from hashlib import sha256
from uuid import NAMESPACE_URL, UUID, uuid5

import numpy as np


def generator(seed: int, *names: str) -> np.random.Generator:
    """Return the generator that belongs to a seed and a path of names."""
    digest = sha256("/".join((str(seed), *names)).encode()).digest()
    return np.random.default_rng(int.from_bytes(digest[:16], "big"))


def stable_id(seed: int, kind: str, key: object) -> UUID:
    """Return the identity that a thing of this kind and key has under this seed."""
    return uuid5(NAMESPACE_URL, f"exchange/{seed}/{kind}/{key}")
