"""Locks on files, by which running copies of the app know of each other."""

try:
    from fcntl import LOCK_EX, LOCK_NB, flock
except ImportError:  # a system without it: there every copy believes that it is the only one
    flock = None  # type: ignore[assignment]


def lock(file: int) -> bool:
    """Lock an open file until it is closed; false if another copy of the app has. Where there are no locks, true."""
    try:
        if flock is not None:
            flock(file, LOCK_EX | LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a disk that knows no locks, such as one of another computer
        pass
    return True
