"""Run the scikit-learn example and fuse its models: `stack_sklearn.py path/to/gpfuse`."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def main() -> None:
    program = Path(sys.argv[1]).resolve()
    data = ROOT / "tests" / "data" / "motorcycle.csv"
    with tempfile.TemporaryDirectory() as folder:

        def run(*command: object) -> str:
            done = subprocess.run(
                [str(c) for c in command],
                check=True,
                cwd=folder,
                capture_output=True,
                text=True,
            )
            return done.stdout

        def nlpd(model: str) -> float:
            scores = json.loads(run(program, "evaluate", model, "test.csv", "--json"))
            return scores["nlpd"]["value"]

        run(sys.executable, ROOT / "examples" / "stack_sklearn.py", data)
        found = {}
        for method in ("bhs", "pbhs"):
            out = f"{method}.nc"
            run(program, "stack", "stack.csv", "--target", "y", "--method", method, "--out", out)
            found[method] = nlpd(out)
            head = run(program, "predict", out, "test.csv", "--experts").splitlines()[0]
            for name in ("smooth", "rough", "line"):
                assert f"weight_{name}" in head, head
        # The straight line has 4.9 on these rows.
        assert all(3.0 < score < 4.9 for score in found.values()), found
    print("experts from scikit-learn:", {k: round(v, 2) for k, v in found.items()})


if __name__ == "__main__":
    main()
