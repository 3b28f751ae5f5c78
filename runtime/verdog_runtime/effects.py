"""The port to what is not deterministic: every answer from outside passes here and is recorded."""

from collections.abc import Callable
from typing import Protocol

from verdog_objects.errors import InvalidInput
from verdog_runtime.ledger import EffectKey


class Effects(Protocol):
    """Asks the world on behalf of a visit."""

    def observe(self, key: EffectKey, request: bytes, perform: Callable[[], bytes]) -> bytes:
        """Return the answer to a request: the recorded one if there is one, else what `perform` returns.

        Args:
            key: which effect of the run it is.
            request: what is asked, as bytes that do not depend on where the run lies.
            perform: asks the world. It is called at most once.

        Durability: the request before `perform` is called, the answer before it is returned.

        Raises:
            InvalidInput: there is a recorded answer to a different request, or nothing may be asked.
        """
        ...


class DirectEffects:
    """Asks the world each time and records nothing: for runs without checkpoints."""

    def observe(self, key: EffectKey, request: bytes, perform: Callable[[], bytes]) -> bytes:
        """Return what `perform` returns."""
        return perform()


class RefusedEffects:
    """Asks nothing: for runs whose ledger this version does not write."""

    def observe(self, key: EffectKey, request: bytes, perform: Callable[[], bytes]) -> bytes:
        """Refuse.

        Raises:
            InvalidInput: always, naming the node.
        """
        raise InvalidInput(
            f"node {key.node} wants an answer from outside ({key.kind}), and this version cannot record it; "
            "with checkpoints off it can be asked without being recorded"
        )


def tokenise(data: bytes, own: dict[bytes, bytes]) -> bytes:
    """Return a request with the run's own paths replaced by tokens, so that it is the same after a retry.

    Args:
        data: the request.
        own: paths, each with its token. Where one path begins with another, the longer one is replaced.
    """
    for path in sorted(own, key=len, reverse=True):
        data = data.replace(path, own[path])
    return data
