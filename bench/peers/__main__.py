"""Run the cells that are missing, print the tables, write the results file."""

import argparse
import re
import sys
import time
import traceback
from pathlib import Path

from . import machine
from .cells import Cell, Store
from .problem import ROOT
from .rows import ROWS
from .section import Section, aligned
from .size import FULL, QUICK, Size

MISMATCH, UNMEASURED = 1, 2


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bench/versus",
        description="gpfuse beside NumPyro and nutpie, on the same data, in one run. The exit "
        "code is 1 where the sides did not compute the same thing and 2 where a cell failed; "
        "a missed target is no failure.",
    )
    parser.add_argument("--quick", action="store_true", help="everything small: minutes")
    parser.add_argument("--only", metavar="ROWS", help=f"some of: {', '.join(ROWS)}")
    parser.add_argument(
        "--skip", metavar="REGEX", type=re.compile, help="leave out cells whose name matches"
    )
    parser.add_argument("--fresh", action="store_true", help="forget the cells measured before")
    parser.add_argument("--out", metavar="FILE", type=Path, help="the results file")
    args = parser.parse_args()
    asked = args.only.split(",") if args.only else list(ROWS)
    args.rows = [name for name in ROWS if name in asked]
    if unknown := set(asked) - set(ROWS):
        parser.error(f"no such rows: {', '.join(sorted(unknown))}; there are {', '.join(ROWS)}")
    return args


def main() -> int:
    args = arguments()
    size = QUICK if args.quick else FULL
    kind = "versus-quick" if args.quick else "versus"
    store = Store(ROOT / "target" / f"{kind}.jsonl", args.fresh)
    cells = {cell.name: cell for name in args.rows for cell in ROWS[name].cells(size)}
    skipped = [name for name in cells if args.skip and args.skip.search(name)]
    chosen = [cell for name, cell in cells.items() if name not in skipped]
    results, when, failed = measured(chosen, store)
    sections = [ROWS[name].report(results, size) for name in args.rows]
    summary = summarised(sections)
    for section in sections:
        print("", section.title, *aligned(section.columns, section.lines), sep="\n")
    print("", *summary, sep="\n")
    out = args.out or ROOT / "bench" / "results" / f"{kind}-{time.strftime('%Y-%m-%d')}.md"
    out.write_text(page(sections, summary, size, when, skipped))
    print(f"\nwrote {out}")
    mismatches = [text for section in sections for text in section.mismatches]
    for text in mismatches:
        print(f"the sides do not compute the same thing: {text}", file=sys.stderr)
    if failed:
        print(f"not measured: {'; '.join(failed)}", file=sys.stderr)
    return MISMATCH if mismatches else UNMEASURED if failed else 0


def measured(cells: list[Cell], store: Store) -> tuple[dict, list[str], list[str]]:
    """The results by cell, when they were measured, and the cells that failed."""
    results, when, failed = {}, [], []
    for at, cell in enumerate(cells, start=1):
        line = store.get(cell)
        print(f"[{at}/{len(cells)}] {cell.name}", end="", flush=True, file=sys.stderr)
        try:
            print(": as before" if line else "", end="", flush=True, file=sys.stderr)
            line = line or store.run(cell)
            print(f" ({line['took']:.1f} s)", file=sys.stderr)
        except Exception:
            # One cell must not end a run of hours.
            print(": failed", file=sys.stderr)
            traceback.print_exc()
            failed.append(cell.name)
            continue
        results[cell.name] = line["result"]
        when.append(line["when"])
    return results, when, failed


def summarised(sections: list[Section]) -> list[str]:
    lines = [
        [section.title, claim.case, claim.figure, claim.target, "ok" if claim.met else "missed"]
        for section in sections
        for claim in section.claims
    ]
    return aligned(["row", "case", "figure", "target", "verdict"], lines) if lines else []


def page(
    sections: list[Section], summary: list[str], size: Size, when: list[str], skipped: list[str]
) -> str:
    """The results file."""
    lines = [f"# gpfuse beside its peers, {size.name} run", ""]
    if when:
        lines += [f"* measured: {min(when)} to {max(when)}"]
    lines += [f"* {what}: {text}" for what, text in machine.described().items()]
    lines += ["", "Written by `bench/versus`; `bench/README.md` says how it measures.", ""]
    if skipped:
        lines += [f"Left out: {'; '.join(skipped)}.", ""]
    if size is QUICK:
        lines += ["A quick run: too short to judge by, above all its ESS and NLPD.", ""]
    lines += ["## Targets", "", *summary]
    for section in sections:
        table = aligned(section.columns, section.lines)
        lines += ["", f"## {section.title}", "", section.note, "", *table]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
