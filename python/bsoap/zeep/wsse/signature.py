"""Signatures are not covered."""

from __future__ import annotations

from typing import Any

from ..exceptions import NotCovered


class MemorySignature:
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise NotCovered(
            f"{type(self).__name__}: bsoap.zeep has no XML signatures. A plugin can sign the envelope with xmlsec in `egress` and "
            "verify it in `ingress`; with bsoap.Client, `before_send` and `after_receive` see the text"
        )


class Signature(MemorySignature):
    pass


class BinarySignature(Signature):
    pass


def sign_envelope(*args: Any, **kwargs: Any) -> Any:
    raise NotCovered("sign_envelope: bsoap.zeep has no XML signatures; sign the envelope with xmlsec")


def verify_envelope(*args: Any, **kwargs: Any) -> Any:
    raise NotCovered("verify_envelope: bsoap.zeep has no XML signatures; verify the envelope with xmlsec")
