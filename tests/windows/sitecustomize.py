"""Make this Python look like one on Windows, as far as that goes: `PYTHONPATH=tests/windows python …`.

Modules and names that Windows lacks are gone, a file can't be renamed or removed while it is open,
and `select` takes no pipes.
"""

# Modules of the standard library that would import parts of Windows come first.
import asyncio  # noqa: F401
import concurrent.futures.thread  # noqa: F401
import ctypes  # noqa: F401
import errno
import importlib.metadata  # noqa: F401
import multiprocessing  # noqa: F401
import os
import select
import shutil  # noqa: F401
import signal
import subprocess  # noqa: F401
import sys
import tempfile  # noqa: F401
import zipfile  # noqa: F401
from collections.abc import Callable
from typing import Any

for module in ("fcntl", "grp", "pty", "pwd", "resource", "termios", "tty"):
    sys.modules[module] = None  # type: ignore[assignment]
for name in ("SIGALRM", "SIGHUP", "SIGQUIT", "SIGCONT", "SIGSTOP", "SIGKILL"):
    delattr(signal, name)
for name in ("ITIMER_REAL", "setitimer", "pthread_sigmask", "SIG_BLOCK"):
    delattr(signal, name)
for name in ("fork", "getuid", "killpg", "pread", "sched_getaffinity", "sysconf"):
    delattr(os, name)
for name in ("uname", "nice", "setsid", "register_at_fork", "O_NOFOLLOW"):
    delattr(os, name)


def refuse(*arguments: object) -> Any:
    raise OSError(errno.ENOTSOCK, "not a socket")


def only_if_closed(change: Callable[..., None]) -> Callable[..., None]:
    def changed(path: Any, *arguments: Any, **options: Any) -> None:
        for descriptor in range(3, 64):
            try:
                is_open = os.path.samestat(os.fstat(descriptor), os.stat(path))
            except OSError:
                continue
            if is_open:
                raise PermissionError(errno.EACCES, "used by another process")
        change(path, *arguments, **options)

    return changed


select.select = refuse
os.replace = only_if_closed(os.replace)
os.unlink = only_if_closed(os.unlink)
sys.platform = "win32"
