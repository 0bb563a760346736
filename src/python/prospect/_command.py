"""Runs the `prospect` command: where it is, how options are said, and how its errors come back."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import threading
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import IO, Any, TypeAlias

from ._frames import WRITERS, Table, is_table

File: TypeAlias = "str | os.PathLike[str]"
Value: TypeAlias = "File | float | Table | None"
Option: TypeAlias = "Value | Iterable[Value]"
"""What stands for an option of the command, see `arguments`."""

LOOK_SECONDS = 0.1
PATIENCE_SECONDS = 5.0


class ProspectError(RuntimeError):
    """The command ended badly.

    Attributes:
        message: what it said, without the word `error`; causes and a hint stand on lines of their own.
        code: its exit code: 1 where the input is at fault, 2 where Prospect is; negative is the signal that ended it.
    """

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message, code)
        self.message = message
        self.code = code

    def __str__(self) -> str:
        return self.message


class ProspectWarning(UserWarning):
    """Something that the command warned of."""


def find_binary() -> str:
    """Path of the command: `PROSPECT_BINARY`, else the one that was installed with this package, else that of `PATH`.

    Raises:
        FileNotFoundError: there is none.
    """
    named = os.environ.get("PROSPECT_BINARY")
    if named:
        found = shutil.which(named)
        if found is None:
            raise FileNotFoundError(f"PROSPECT_BINARY is {named!r}, and there is no such program")
        return found
    user = sysconfig.get_path("scripts", sysconfig.get_preferred_scheme("user"))
    beside = Path(__file__).parents[1] / "bin"  # pip install --target
    installed = os.pathsep.join([sysconfig.get_path("scripts"), user, os.fspath(beside)])
    found = shutil.which("prospect", path=installed) or shutil.which("prospect")
    if found is None:
        raise FileNotFoundError("there is no prospect command; install the wheel, or set PROSPECT_BINARY to its path")
    return found


def arguments(options: Mapping[str, Option], folder: Path) -> list[str]:
    """Keyword arguments as options of the command: `max_pages="50%"` is `--max-pages=50%`.

    `True` is the option alone; `None` and `False` leave it out; a list repeats it; a frame is written to a file in
    `folder` first.
    """
    said: list[str] = []
    for name, value in options.items():
        option = "--" + name.replace("_", "-")
        is_one = is_table(value) or isinstance(value, str) or not isinstance(value, Iterable)
        for at, one in enumerate([value] if is_one else list(value)):  # type: ignore[arg-type]
            if one is True:
                said.append(option)
            elif is_table(one):
                said.append(f"{option}={written(name, one, folder / str(at))}")
            elif one is not None and one is not False:
                said.append(f"{option}={os.fspath(one) if isinstance(one, os.PathLike) else one}")
    return said


def written(name: str, table: Table, folder: Path) -> Path:
    """The file with a frame that stands for an option. Its name is the same each time, for it is told in results."""
    if name not in WRITERS:
        raise TypeError(f"{name} cannot be a frame; {', '.join(WRITERS)} can")
    write, suffix = WRITERS[name]
    folder.mkdir(exist_ok=True)
    path = folder / f"{name.replace('_', '-')}{suffix}"
    with path.open("w", encoding="utf-8", newline="\n") as file:
        write(table, file)
    return path


def run(verb: str, positional: Iterable[File], options: Mapping[str, Option]) -> tuple[str, str]:
    """Runs the command, and gives what it printed and what it said beside that.

    The option `progress` is none of the command: what it says is then also told while it runs.
    """
    options = dict(options)
    progress = bool(options.pop("progress", False))
    with tempfile.TemporaryDirectory(prefix="prospect-") as folder:
        named = [os.fspath(one) for one in positional]
        command = [find_binary(), *verb.split(), *arguments(options, Path(folder)), "--", *named]
        code, printed, said = attended(command, progress)
    for line in said.splitlines():
        if line.startswith("warning: "):
            warnings.warn(line.removeprefix("warning: "), ProspectWarning, stacklevel=4)
    if code != 0:
        message = f"\n{said}".rpartition("\nerror: ")[2].strip()
        raise ProspectError(message or f"`prospect {verb}` ended with {code} and said nothing", code)
    return printed, said


def run_json(verb: str, positional: Iterable[File], options: Mapping[str, Option]) -> tuple[Any, str]:
    """The same with JSON, as which what it printed is read."""
    printed, said = run(verb, positional, {**options, "json": True})
    return json.loads(printed), said


def attended(command: list[str], progress: bool) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of a command, which does not outlive this call."""
    printed: list[str] = []
    said: list[str] = []
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, encoding="utf-8", errors="replace"
    ) as child:
        streams = ((child.stdout, printed, False), (child.stderr, said, progress))
        listeners = [threading.Thread(target=listen, args=stream, daemon=True) for stream in streams]
        for listener in listeners:
            listener.start()
        try:
            # An interrupt may come by another thread, and ends no wait of this one that has no end by itself.
            while child.poll() is None:
                listeners[0].join(LOOK_SECONDS)
        except BaseException:
            child.terminate()
            try:
                child.wait(PATIENCE_SECONDS)
            except subprocess.TimeoutExpired:
                child.kill()
            raise
        finally:
            for listener in listeners:
                listener.join()
    return child.returncode, "".join(printed), "".join(said)


def listen(stream: IO[str], lines: list[str], progress: bool) -> None:
    """Collects lines until the stream ends, whatever becomes of those that are told on."""
    for line in stream:
        lines.append(line)
        if progress:
            try:
                sys.stderr.write(line)
                sys.stderr.flush()
            except (OSError, ValueError):
                progress = False
