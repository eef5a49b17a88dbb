"""Coroutine functions of a service, on an event loop."""

from __future__ import annotations

import asyncio
import collections
import functools
import os
import threading
from collections.abc import Callable
from typing import Any

from . import _bsoap


class Tasks:
    """Starts coroutine functions on an event loop, from any thread."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._waiting: collections.deque[tuple[Callable[..., Any], dict[str, Any], _bsoap.Reply]] = collections.deque()
        self._is_woken = False
        self.running: set[asyncio.Task[None]] = set()

    def submit(self, function: Callable[..., Any], arguments: dict[str, Any], reply: _bsoap.Reply) -> None:
        self._waiting.append((function, arguments, reply))
        # To wake the loop costs more than to start a task: once for all that wait.
        if not self._is_woken:
            self._is_woken = True
            self._loop.call_soon_threadsafe(self._start)

    def _start(self) -> None:
        self._is_woken = False
        while self._waiting:
            function, arguments, reply = self._waiting.popleft()
            task = self._loop.create_task(_answer(function, arguments, reply))
            self.running.add(task)
            task.add_done_callback(self.running.discard)
            if not reply.begin(functools.partial(self._cancel, task)):
                task.cancel()

    def _cancel(self, task: asyncio.Task[None]) -> None:
        self._loop.call_soon_threadsafe(task.cancel)


async def _answer(function: Callable[..., Any], arguments: dict[str, Any], reply: _bsoap.Reply) -> None:
    try:
        returned = await function(**arguments)
    except asyncio.CancelledError as error:
        reply.fail(error)
        raise
    except BaseException as error:
        reply.fail(error)
    else:
        reply.finish(returned)


class Loop:
    """An event loop in a thread of its own."""

    def __init__(self) -> None:
        self.process = os.getpid()
        self._loop = asyncio.new_event_loop()
        self.tasks = Tasks(self._loop)
        self._thread = threading.Thread(target=self._run, name="bsoap-handlers", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_forever()
            tasks = asyncio.all_tasks(self._loop)
            for task in tasks:
                task.cancel()
            self._loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        finally:
            self._loop.close()

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
