"""User name tokens."""

from __future__ import annotations

import base64
import hashlib
import os
from typing import Any

from lxml import etree

from .. import ns
from . import utils

_PROFILE = "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-username-token-profile-1.0"
_MESSAGE_SECURITY = "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-soap-message-security-1.0"


class UsernameToken:
    """A user name with a password as text or as a digest.

    ``timestamp_token`` is an element of lxml that is added to the Security block, such as a Timestamp.
    """

    def __init__(
        self,
        username: str,
        password: str | None = None,
        password_digest: str | None = None,
        use_digest: bool = False,
        nonce: Any = None,
        created: Any = None,
        timestamp_token: Any = None,
        zulu_timestamp: bool | None = None,
        hash_password: bool | None = None,
    ) -> None:
        self.username = username
        self.password = password
        self.password_digest = password_digest
        self.nonce = nonce
        self.created = created
        self.use_digest = use_digest
        self.timestamp_token = timestamp_token
        self.zulu_timestamp = zulu_timestamp
        self.hash_password = hash_password

    def apply(self, envelope: Any, headers: Any) -> Any:
        security = utils.get_security_header(envelope)
        self._fill(security)
        return envelope, headers

    def verify(self, envelope: Any) -> None:
        pass

    def header_text(self) -> str:
        """The Security block as XML."""
        security = utils.WSSE.Security()
        self._fill(security)
        return str(etree.tostring(security, encoding="unicode"))

    def _fill(self, security: Any) -> None:
        token = security.find(f"{{{ns.WSSE}}}UsernameToken")
        if token is None:
            token = utils.WSSE.UsernameToken()
            security.append(token)
        if self.timestamp_token is not None:
            security.append(self.timestamp_token)
        elements = [utils.WSSE.Username(self.username)]
        if self.password is not None or self.password_digest is not None:
            elements += self._digest() if self.use_digest else self._text()
        token.extend(elements)

    def _text(self) -> list[Any]:
        return [utils.WSSE.Password(self.password, Type=f"{_PROFILE}#PasswordText")]

    def _digest(self) -> list[Any]:
        nonce = self.nonce.encode("utf-8") if self.nonce else os.urandom(16)
        created = utils.get_timestamp(self.created, self.zulu_timestamp)
        if self.password_digest:
            digest = self.password_digest
        else:
            password = (self.password or "").encode("utf-8")
            if self.hash_password:
                password = hashlib.sha1(password).digest()
            digest = base64.b64encode(hashlib.sha1(nonce + created.encode("utf-8") + password).digest()).decode("ascii")
        return [
            utils.WSSE.Password(digest, Type=f"{_PROFILE}#PasswordDigest"),
            utils.WSSE.Nonce(base64.b64encode(nonce).decode("utf-8"), EncodingType=f"{_MESSAGE_SECURITY}#Base64Binary"),
            utils.WSU.Created(created),
        ]
