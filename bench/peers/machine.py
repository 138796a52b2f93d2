"""Where and with what a run was made."""

import os
import platform
import subprocess

from . import ours
from .cells import versions
from .problem import ROOT


def described() -> dict[str, str]:
    about = ours.run("about")
    peers = ", ".join(f"{name} {version}" for name, version in versions().items())
    return {
        "machine": f"{_cpu()}, {os.cpu_count()} cores, {about['level']}",
        "system": f"{platform.system()} {platform.machine()}",
        "gpfuse": f"{about['version']}, commit {_commit()}, {_said('rustc', '--version')}",
        "peers": f"{peers}, Python {platform.python_version()}",
    }


def _cpu() -> str:
    try:
        with open("/proc/cpuinfo") as file:
            names = [line.split(":")[1].strip() for line in file if line.startswith("model name")]
        return names[0]
    except (OSError, IndexError):
        return platform.processor() or "an unknown processor"


def _commit() -> str:
    commit = _said("git", "rev-parse", "--short", "HEAD")
    changed = _said("git", "status", "--porcelain", "--", "crates", "Cargo.lock", "Cargo.toml")
    return f"{commit} with changes" if changed else commit


def _said(*command: str) -> str:
    try:
        done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return done.stdout.strip()
