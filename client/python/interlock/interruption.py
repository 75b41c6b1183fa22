"""Raises an exception in a thread that is busy with something else.

Python delivers it before the thread's next instruction. A thread that waits in a call of
the operating system gets it when that call returns; for the main thread a signal makes it
return at once. SIGURG is used, and only where the program has left it alone: it does
nothing by default, and nobody minds one more.

The thread rule: `Interruption` belongs to the thread that made it; only `interrupt` may be
called by another.
"""
from __future__ import annotations

import asyncio
import ctypes
import signal
import threading
from types import FrameType
from typing import Optional, Type


class Interruption:
    """Lets another thread raise once in the thread that made this, until `disarm`."""

    def __init__(self) -> None:
        self._thread = threading.get_ident()
        self._lock = threading.Lock()
        self._armed = not _in_event_loop()
        self._signals = self._armed and _take_signal()

    def interrupt(self, exception: Type[BaseException]) -> None:
        """Raises `exception`, made without arguments, there; does nothing once disarmed."""
        with self._lock:
            if not self._armed:
                return
            self._armed = False
            ctypes.pythonapi.PyThreadState_SetAsyncExc(
                ctypes.c_ulong(self._thread), ctypes.py_object(exception))
            if self._signals:
                signal.pthread_kill(self._thread, signal.SIGURG)

    def disarm(self) -> None:
        """After this nothing is raised any more; what is on its way is raised in here."""
        try:
            with self._lock:
                self._armed = False
            _nothing()
        finally:
            if self._signals:
                self._signals = False
                _give_signal_back()


def _in_event_loop() -> bool:
    """Whose instructions an exception would hit there, nobody can say."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


_users = 0  # Interruptions that use the signal; only the main thread counts here


def _take_signal() -> bool:
    global _users
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "SIGURG"):
        return False
    if signal.getsignal(signal.SIGURG) not in (signal.SIG_DFL, _nothing):
        return False
    signal.signal(signal.SIGURG, _nothing)
    _users += 1
    return True


def _give_signal_back() -> None:
    global _users
    _users -= 1
    if _users == 0:
        signal.signal(signal.SIGURG, signal.SIG_DFL)


def _nothing(number: int = 0, frame: Optional[FrameType] = None) -> None:
    """That it is called is enough: what was sent is raised before its first instruction."""
