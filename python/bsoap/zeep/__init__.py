"""The interface of zeep over the codec of bsoap, for programs that were written for zeep.

    from bsoap import zeep          # instead of: import zeep
    client = zeep.Client("service.wsdl")

`install()` makes ``import zeep`` find this package, also in packages that depend on zeep. It needs lxml and requests, as zeep does.
"""

from __future__ import annotations

try:
    import lxml.etree  # noqa: F401
    import requests  # noqa: F401
except ImportError as error:
    raise ImportError(
        f"bsoap.zeep needs lxml and requests ({error}): pip install 'bsoap[zeep]'; bsoap.Client needs neither"
    ) from error

import importlib
import sys
import types

from . import exceptions, ns, plugins, settings, utils, wsse, xsd  # isort: skip
from .client import AsyncClient, CachingClient, Client
from .plugins import Plugin
from .settings import Settings
from .transports import AsyncTransport, Transport
from .xsd.valueobjects import AnyObject

__version__ = "4.3.3"
"""The version of zeep whose interface this is."""

_MODULES = (
    "cache client exceptions helpers loader ns plugins proxy settings transports utils wsa wsdl wsdl.bindings wsdl.definitions "
    "wsdl.messages wsdl.utils wsdl.wsdl wsse wsse.compose wsse.signature wsse.username wsse.utils xsd xsd.const xsd.elements "
    "xsd.elements.element xsd.elements.indicators xsd.schema xsd.types xsd.types.builtins xsd.utils xsd.valueobjects"
).split()

# Where zeep has more modules than there are here.
_ALIASES = {
    "wsdl.bindings.soap": "wsdl.bindings",
    "wsdl.bindings.http": "wsdl.bindings",
    "wsdl.messages.soap": "wsdl.messages",
    "xsd.elements.any": "xsd.elements.element",
    "xsd.elements.attribute": "xsd.elements.element",
    "xsd.printer": "xsd.valueobjects",
    "xsd.types.any": "xsd.types",
    "xsd.types.base": "xsd.types",
    "xsd.types.collection": "xsd.types",
    "xsd.types.complex": "xsd.types",
    "xsd.types.simple": "xsd.types",
}


def install() -> types.ModuleType:
    """Makes ``import zeep`` and its submodules find this package. Call it before anything imports zeep."""
    this = sys.modules[__name__]
    known = sys.modules.get("zeep")
    if known is not None and known is not this:
        raise ImportError("zeep is imported already: call bsoap.zeep.install() before the first import of zeep")
    sys.modules["zeep"] = this
    for name in _MODULES:
        sys.modules[f"zeep.{name}"] = importlib.import_module(f"{__name__}.{name}")
    for name, target in _ALIASES.items():
        sys.modules[f"zeep.{name}"] = sys.modules[f"zeep.{target}"]
    # Its star imports also leave modules under shorter names.
    vars(xsd)["simple"] = xsd.types
    # Values say that their classes are in a module of this name; pickles look it up.
    sys.modules.setdefault("zeep.objects", types.ModuleType("zeep.objects"))
    return this


from . import cache, helpers, loader, proxy, transports, wsdl  # noqa: E402  isort: skip

__all__ = [
    "AnyObject",
    "AsyncClient",
    "AsyncTransport",
    "CachingClient",
    "Client",
    "Plugin",
    "Settings",
    "Transport",
    "install",
]
__all__ += [
    "cache",
    "exceptions",
    "helpers",
    "loader",
    "ns",
    "plugins",
    "proxy",
    "settings",
    "transports",
    "utils",
    "wsdl",
    "wsse",
    "xsd",
]
