"""The folder of the cache: where it is, whose files are believed, and how they are written and go.

What is read here is run.  So a file is believed only if it and the folders that it lies in belong to the user, and
nobody else may write them; and only if its length and its digest are those that it says, since a file may have been cut
short.  Files are written beside their place and moved there at once, so that others see the whole of it or nothing.
Nothing here raises where a folder is full, read-only or not there: the program is compiled then.
"""

from __future__ import annotations

import os
import stat
import sys
import time
from collections.abc import Iterator

from srcgrad.cache.digests import sha256

FORMAT = b"srcgrad cache 1\n"
SUFFIX = ".srcgrad"
LIMIT = 256 * 2**20  # bytes of all files together
_OF_ONE_KEY = 8  # programs that differ in what is read outside alone
_LARGEST = 2**26
_STALE = 3600.0  # seconds after which a file that was not moved to its place is left over
_HEAD = len(FORMAT) + 8 + 32
_FLAGS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


def chosen() -> str | None:
    """The folder that the environment asks for, else that of the platform for such files; None where it is off."""
    asked = os.environ.get("SRCGRAD_CACHE", "").strip()
    if asked.lower() in ("off", "0"):
        return None
    home = asked or _of_platform()
    home = os.path.expanduser(home)
    if not asked and not os.path.isabs(home):  # there is no home
        return None
    return os.path.abspath(home)


def _of_platform() -> str:
    if sys.platform == "win32":
        return os.path.join(os.environ.get("LOCALAPPDATA") or "~", "srcgrad", "Cache")
    if sys.platform == "darwin":
        return "~/Library/Caches/srcgrad"
    base = os.environ.get("XDG_CACHE_HOME", "")
    return os.path.join(base if os.path.isabs(base) else "~/.cache", "srcgrad")  # a relative one counts as none


def _is_own(told: os.stat_result) -> bool:
    """Whether the user owns a file or folder, and nobody else may write it."""
    if not hasattr(os, "geteuid"):
        return True
    return told.st_uid == os.geteuid() and not told.st_mode & 0o022


def is_own_folder(folder: str) -> bool:
    try:
        told = os.stat(folder)
    except OSError:
        return False
    return stat.S_ISDIR(told.st_mode) and _is_own(told)


def candidates(folder: str, key: str) -> Iterator[str]:
    """The files under a key, the latest first."""
    inner = os.path.join(folder, key[:2])
    if not is_own_folder(folder) or not is_own_folder(inner):
        return
    yield from (path for _, path in sorted(_under_key(inner, key), reverse=True))


def _under_key(inner: str, key: str) -> list[tuple[int, str]]:
    found = []
    try:
        with os.scandir(inner) as entries:
            for entry in entries:
                if entry.name.startswith(key) and entry.name.endswith(SUFFIX):
                    found.append((entry.stat(follow_symlinks=False).st_mtime_ns, entry.path))
    except OSError:
        pass
    return found


def read(path: str) -> bytes | None:
    """What was written there; None where it is not believed."""
    try:
        opened = os.open(path, os.O_RDONLY | _FLAGS)
    except OSError:
        return None
    try:
        told = os.fstat(opened)
        if not stat.S_ISREG(told.st_mode) or not _is_own(told) or not _HEAD <= told.st_size <= _LARGEST:
            return None
        with os.fdopen(opened, "rb", closefd=False) as file:
            whole = file.read(told.st_size + 1)
    except OSError:
        return None
    finally:
        os.close(opened)
    return unsealed(whole)


def sealed(content: bytes) -> bytes:
    return FORMAT + len(content).to_bytes(8, "big") + sha256(content).digest() + content


def unsealed(whole: bytes) -> bytes | None:
    """The content of a file; None where that is not what was written."""
    length, digest, content = whole[len(FORMAT) : len(FORMAT) + 8], whole[_HEAD - 32 : _HEAD], whole[_HEAD:]
    if not whole.startswith(FORMAT) or int.from_bytes(length, "big") != len(content):
        return None
    return content if sha256(content).digest() == digest else None


def mark_used(path: str) -> None:
    """Keep a file that is read from being the next to go; once a day is enough."""
    try:
        if time.time() - os.stat(path).st_mtime > 86400:
            os.utime(path)
    except OSError:
        pass


def write(folder: str, key: str, content: bytes) -> bool:
    """Put content under a key, as a file that is named for it; returns whether it is there."""
    inner = os.path.join(folder, key[:2])
    name = f"{key}-{sha256(content).hexdigest()[:16]}{SUFFIX}"
    try:
        _make(folder)
        _make(inner)
        if not is_own_folder(folder) or not is_own_folder(inner):
            return False
        beside = os.path.join(inner, f"{os.urandom(16).hex()}.tmp")
        opened = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _FLAGS, 0o600)
        try:
            with os.fdopen(opened, "wb") as file:
                file.write(sealed(content))
            os.replace(beside, os.path.join(inner, name))
        except OSError:
            _remove(beside)
            return False
    except OSError:
        return False
    for _, path in sorted(_under_key(inner, key), reverse=True)[_OF_ONE_KEY:]:
        _remove(path)
    return True


def _make(folder: str) -> None:
    os.makedirs(os.path.dirname(folder), exist_ok=True)
    try:
        os.mkdir(folder, 0o700)
    except FileExistsError:
        pass


def _remove(path: str) -> bool:
    try:
        os.unlink(path)
    except OSError:
        return False
    return True


def files(folder: str) -> list[tuple[float, int, str]]:
    """When each file was used last, its size and its path, and what was left over by processes that ended."""
    found: list[tuple[float, int, str]] = []
    try:
        with os.scandir(folder) as entries:
            inner = [one.path for one in entries if len(one.name) == 2 and one.is_dir(follow_symlinks=False)]
    except OSError:
        return []
    for each in inner:
        try:
            with os.scandir(each) as entries:
                for entry in entries:
                    if entry.name.endswith((SUFFIX, ".tmp")) and entry.is_file(follow_symlinks=False):
                        told = entry.stat(follow_symlinks=False)
                        found.append((max(told.st_atime, told.st_mtime), told.st_size, entry.path))
        except OSError:
            continue
    return found


def trim(folder: str, limit: int = LIMIT) -> None:
    """Let those go that were not used for the longest time, down to three quarters of the limit, if there are more."""
    kept = []
    for used, size, path in files(folder):
        if path.endswith(".tmp"):
            if time.time() - used > _STALE:
                _remove(path)
        else:
            kept.append((used, size, path))
    total = sum(size for _, size, _ in kept)
    if total <= limit:
        return
    for _, size, path in sorted(kept):
        if total <= limit * 3 // 4:
            break
        total -= size if _remove(path) else 0


def clear(folder: str) -> int:
    """Remove all files of the cache; returns how many went.  What else lies in the folder stays."""
    removed = sum(_remove(path) for _, _, path in files(folder))
    try:
        with os.scandir(folder) as entries:
            inner = [one.path for one in entries if len(one.name) == 2 and one.is_dir(follow_symlinks=False)]
        for each in (*inner, folder):
            os.rmdir(each)
    except OSError:  # something else lies there
        pass
    return removed
