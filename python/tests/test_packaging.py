"""What would be published can be packed, and the workflow of a public CI runs what there is."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
CRATES = ["gpfuse", "gpfuse-io", "gpfuse-report", "gpfuse-paper", "gpfuse-cli"]


def packed(file: Path) -> set[str]:
    with tarfile.open(file) as archive:
        return {name.split("/", 1)[1] for name in archive.getnames() if "/" in name}


def test_crates_are_packed(tmp_path: Path) -> None:
    command = ["cargo", "package", "--quiet", "--locked", "--no-verify", "--allow-dirty"]
    command += [f"--package={crate}" for crate in CRATES] + [f"--target-dir={tmp_path}"]
    subprocess.run(command, cwd=ROOT, check=True)
    for crate in CRATES:
        (file,) = (tmp_path / "package").glob(f"{crate}-[0-9]*.crate")
        names = packed(file)
        assert "Cargo.toml" in names
        # What a source file takes in is in the package too.
        sources = ROOT / "crates" / crate / "src"
        for source in sources.rglob("*.rs"):
            for inner in re.findall(r'include_(?:str|bytes)!\("([^"]+)"\)', source.read_text()):
                path = (source.parent / inner).resolve().relative_to(sources.parent)
                assert str(path) in names, f"{source}: {inner}"


def test_the_source_distribution_has_what_a_build_needs(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "maturin", "sdist", "--out", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (file,) = tmp_path.glob("gpfuse-*.tar.gz")
    names = packed(file)
    needed = {"pyproject.toml", "Cargo.lock", "README.md", "LICENSE-MIT", "python/gpfuse/py.typed"}
    assert needed <= names
    assert any(name.endswith("gpfuse-py/src/lib.rs") for name in names)
    assert not any("python/tests" in name for name in names)


@pytest.mark.parametrize("workflow", sorted((ROOT / ".github" / "workflows").glob("*.yml")))
def test_workflows_run_what_there_is(workflow: Path) -> None:
    read = yaml.safe_load(workflow.read_text())
    # YAML 1.1 takes the key `on` for a truth value.
    assert {"name", True, "permissions", "jobs"} <= read.keys()
    jobs = read["jobs"]
    commands = []
    for job in jobs.values():
        assert job["runs-on"] and job["timeout-minutes"] and job["steps"]
        needs = job.get("needs", [])
        assert ({needs} if isinstance(needs, str) else set(needs)) <= jobs.keys()
        axes = job.get("strategy", {}).get("matrix", {})
        for step in job["steps"]:
            assert ("uses" in step) != ("run" in step), step
            if "uses" in step:
                assert re.fullmatch(r"[\w.-]+/[\w.-]+@v\d+", step["uses"]), step
            for axis in re.findall(r"matrix\.(\w+)", str(step)):
                assert axis in axes, step
            commands.append(step.get("run", ""))
    scripts = {script for run in commands for script in re.findall(r"\.ci/[\w-]+", run)}
    assert {".ci/run", ".ci/wheels", ".ci/package"} <= scripts
    for script in scripts:
        assert os.access(ROOT / script, os.X_OK), script
        subprocess.run(["bash", "-n", ROOT / script], check=True)


def test_tools_of_wheels_are_pinned() -> None:
    for line in (ROOT / ".ci" / "wheels.txt").read_text().splitlines():
        assert re.fullmatch(r"[\w-]+==[\d.]+", line), line
