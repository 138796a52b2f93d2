"""gpfuse's side: its program `versus` and its command-line program, as processes."""

import json
import os
import subprocess
import time

import numpy as np

from .problem import CENTRE, HALF_WIDTH, ROOT, Model

RELEASE = ROOT / os.environ.get("CARGO_TARGET_DIR", "target") / "release"
EXAMPLE, PROGRAM = RELEASE / "versus", RELEASE / "gpfuse"
GP = RELEASE / "gp"
WORK = ROOT / "target" / "versus"


def file(name: str, values: np.ndarray) -> str:
    """Write numbers as gpfuse's benchmark reads them."""
    WORK.mkdir(parents=True, exist_ok=True)
    path = WORK / f"{name}.f64"
    np.ascontiguousarray(values, float).tofile(path)
    return str(path)


def room(name: str) -> str:
    """A place for numbers to come."""
    WORK.mkdir(parents=True, exist_ok=True)
    return str(WORK / f"{name}.f64")


def table(name: str, rows: tuple[np.ndarray, np.ndarray]) -> dict:
    return {"x": file(f"{name}-x", rows[0]), "y": file(f"{name}-y", rows[1])}


def problem(model: Model, rows: tuple[np.ndarray, np.ndarray]) -> dict:
    """A model and its training rows, as the benchmark takes them."""
    if model.basis.kind == "rff":
        basis = {"rff": file("omega", model.basis.omega)}
    else:
        size = model.basis.size
        basis = {"hilbert": {"centre": CENTRE, "half_width": HALF_WIDTH, "size": size}}
    train = table("train", rows)
    return {"method": model.method, "experts": model.experts, "basis": basis, "train": train}


def run(task: str, **job: object) -> dict:
    """One task; `wall` is the life of the process, with its start and its reading of files."""
    command = [str(EXAMPLE), json.dumps({"task": task, **job})]
    begun = time.perf_counter()
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout) | {"wall": time.perf_counter() - begun}


def life(*command: object) -> float:
    """The seconds from the start of a quiet process to its end."""
    # A spawned process: forking this one, with all of JAX in it, would be timed too.
    words = [str(word) for word in command]
    quiet = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_WRONLY, 0) for fd in (1, 2)]
    begun = time.perf_counter()
    pid = os.posix_spawn(words[0], words, os.environ, file_actions=quiet)
    _, status = os.waitpid(pid, 0)
    seconds = time.perf_counter() - begun
    if os.waitstatus_to_exitcode(status) != 0:
        raise RuntimeError(f"{' '.join(words)}: failed")
    return seconds
