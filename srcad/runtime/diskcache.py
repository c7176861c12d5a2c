"""The cache folder: generated modules, and an index by which a later process finds them untraced.

The folder is `SRCAD_CACHE_DIR`, else `srcad` in the user's cache folder, and it is the path of the
package `srcad.generated`. One that cannot be written, or that others may write to (whoever can
write there can make us run code), is not used: a private temporary folder takes its place, which
is said once. Files are written under a temporary name and renamed, so processes may race.

A module's name is a hash of its content, and its header names the versions and srcad's own
`runtime`: Numba notices no edit outside the file itself. The key of an index entry covers all of
srcad and what the function can read from outside (`surroundings`).
"""

import atexit
import functools
import importlib
import json
import os
import platform
import shutil
import sys
import tempfile
import warnings
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from types import ModuleType

import llvmlite
import numba
import numpy as np
import scipy

from srcad.codegen import Source
from srcad.errors import InternalError, Problem
from srcad.runtime.surroundings import digest

PACKAGE = Path(__file__).parent.parent


@dataclass(frozen=True)
class Entry:
    """What the index knows of one program; places are numbers in `surroundings`."""

    module: str
    function: str  # its name in the module
    guards: tuple[int, ...]  # the places whose values shaped the code
    hidden: tuple[int, ...]  # the places passed as hidden arguments, in order
    written: tuple[int, ...]  # the parameters written into
    name: str  # the user's function
    gives: str  # the structure of the result, as `structures.encoded` has it


@functools.cache
def folder() -> Path:
    """The folder in use, which exists."""
    chosen = os.environ.get("SRCAD_CACHE_DIR")
    path = Path(chosen) if chosen else _user_cache() / "srcad"
    reason = unusable(path)
    if reason is None:
        return path.resolve()
    warnings.warn(
        f"srcad does not use the cache folder {path}: {reason}. Compiled code is not kept "
        "beyond this process; SRCAD_CACHE_DIR names another folder.",
        stacklevel=2,
    )
    return _private()


def _user_cache() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local"))
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))


def unusable(path: Path) -> str | None:
    """Why a folder is not used; it is made where it is missing."""
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = path.stat()
        if os.name == "posix":
            if status.st_mode & 0o022:
                return "other users may write to it"
            if status.st_uid != os.getuid():
                return "it belongs to another user"
        with tempfile.TemporaryFile(dir=path):
            return None
    except OSError as error:
        return f"it cannot be written ({error.strerror})"


def _private() -> Path:
    path = Path(tempfile.mkdtemp(prefix="srcad-"))
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    return path


def write(path: Path, text: str) -> None:
    """The file with this content, whole or not at all."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".writing-")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


# -- modules


def named(text: str) -> str:
    """The name of the module with this content."""
    return f"g_{digest(text)}"


def store(made: Source, signature: str) -> str:
    """Writes a generated module for one signature; its name within `srcad.generated`."""
    text = f"# {header()}\n# {signature}\n\n{made.text}"
    name = named(text)
    path = folder() / f"{name}.py"
    if not path.is_file() or path.read_bytes() != text.encode():
        write(path, text)
        importlib.invalidate_caches()
    return name


def load(name: str) -> ModuleType | None:
    """A generated module, or None if its file is gone or is not what was written."""
    full = f"srcad.generated.{name}"
    if full in sys.modules:
        return sys.modules[full]
    try:
        text = (folder() / f"{name}.py").read_text(encoding="utf-8")
    except (OSError, ValueError):
        return None
    if name != named(text):
        return None
    try:
        return importlib.import_module(full)
    except Exception as error:
        path = folder() / f"{name}.py"
        raise InternalError(
            Problem(f"the generated module {path} does not load: {error}", None, "", "delete it")
        ) from error


def _sources(under: Path) -> Iterator[str]:
    for path in sorted(under.rglob("*.py")):
        yield str(path.relative_to(PACKAGE))
        yield path.read_text(encoding="utf-8")


@functools.cache
def own(part: str = "") -> str:
    """A hash of srcad's own source, or of one package of it."""
    return digest(*_sources(PACKAGE / part))


@functools.cache
def header() -> str:
    """The versions that generated code depends on."""
    found = {
        "python": platform.python_version(), "numba": numba.__version__,
        "llvmlite": llvmlite.__version__, "numpy": np.__version__, "scipy": scipy.__version__,
        "runtime": own("runtime"),
    }  # fmt: skip
    return ", ".join(f"{name} {version}" for name, version in found.items())


# -- the index


def key(*parts: str) -> str:
    """The name of an index entry."""
    flags = f"{sys.flags.optimize} {os.environ.get('SRCAD_OPT', '')}"
    return digest(header(), own(), flags, *parts)


def remember(name: str, entry: Entry) -> None:
    """Adds an entry to the index."""
    write(folder() / "index" / f"{name}.json", json.dumps(asdict(entry)))


def recall(name: str) -> Entry | None:
    """An entry of the index; None if there is none, or none that can be read."""
    try:
        found = json.loads((folder() / "index" / f"{name}.json").read_text(encoding="utf-8"))
        places = {part: tuple(map(int, found[part])) for part in ("guards", "hidden", "written")}
        return Entry(
            str(found["module"]),
            str(found["function"]),
            **places,
            name=str(found["name"]),
            gives=str(found["gives"]),
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None
