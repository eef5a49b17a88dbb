"""Futures of asyncio."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import asyncio


def settle(future: asyncio.Future[Any], value: Any, error: BaseException | None) -> None:
    """Gives a future its value or its exception, unless it was cancelled."""
    if future.done():
        return
    if error is not None:
        future.set_exception(error)
    else:
        future.set_result(value)
