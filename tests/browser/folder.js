// The folder of a sweep with made-up scores, and models with a name that is not to be trusted.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export const EVIL = "<img src=x onerror=alert(1)>";

const ARMS = [
  ["bhs", "bhs", "BHS", false],
  ["pbhs", "pbhs", "P-BHS", false],
  ["mogpe", "mogpe", "MoGPE", false],
  ["pogpe", "pogpe", "PoGPE", false],
  ["het", "het", "het", false],
  ["pbhs-robust", "pbhs", `P-BHS, robust ${EVIL}`, true],
  ["pogpe-ours", "pogpe", "PoGPE, stacked chains", true],
];
const PAPER = ["bhs", "pbhs", "mogpe", "pogpe", "het"];
const OURS = ["pbhs-robust", "pogpe-ours"];

const studies = (basis, size, sizes) => [
  { name: `experts-${basis}`, title: "NLPD against the number of experts", vary: "experts", data: ["paper"], arms: PAPER, basis, sizes: [size], experts: [2, 3, 4, 5] },
  { name: `size-${basis}`, title: "NLPD against the size of the basis", vary: "size", data: ["paper"], arms: PAPER, basis, sizes, experts: [2] },
  { name: `ours-${basis}`, title: "Our variants", vary: "experts", data: ["paper"], arms: OURS, basis, sizes: [size], experts: [3] },
  { name: `range-${basis}`, title: "The range of the inputs", vary: "experts", data: ["short", "long"], arms: ["mogpe", "het"], basis, sizes: [size], experts: [2] },
];
export const STUDIES = [...studies("rff", 30, [10, 20, 30, 40, 50]), ...studies("hilbert", 60, [20, 40, 60, 80, 100])];
const SPLITS = { paper: 5, short: 3, long: 3 };
const KEPT = ["mogpe", "pogpe", "het"];

function settings() {
  const lines = [`name = "paper"`, `version = "0.1.0"`];
  for (const [name, low, high] of [["paper", -5, 5], ["short", 0, 2], ["long", 0, 8]]) {
    lines.push(`[data.${name}]`, `simulate = { n = 60, low = ${low}.0, high = ${high}.0 }`, `splits = ${SPLITS[name]}`);
  }
  for (const [name, method, label, ours] of ARMS) {
    lines.push("[[arm]]", `name = "${name}"`, `method = "${method}"`, `label = "${label}"`, `ours = ${ours}`);
  }
  for (const study of STUDIES) {
    lines.push("[[study]]", ...Object.entries(study).map(([key, value]) => `${key} = ${JSON.stringify(value)}`));
  }
  for (const arm of KEPT) {
    lines.push("[[keep]]", `data = "paper"`, `arm = "${arm}"`, `basis = "rff"`, "size = 30", `experts = ${arm === "het" ? 1 : 3}`);
  }
  return `${lines.join("\n")}\n`;
}

// A seeded generator: the same page on every run.
function random(seed) {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

const LEVEL = { bhs: 1.02, pbhs: 0.94, mogpe: 0.62, pogpe: 0.7, het: 0.83, "pbhs-robust": 0.9, "pogpe-ours": 0.66 };

function rows() {
  const next = random(7);
  const seen = new Map();
  for (const { data, arms, basis, sizes, experts } of STUDIES)
    for (const d of data)
      for (const arm of arms)
        for (const size of sizes)
          for (const k of arm === "het" ? [1] : experts)
            for (let split = 0; split < SPLITS[d]; split += 1) {
              const key = { data: d, arm, basis, size, experts: k, split, seed: 0 };
              const name = JSON.stringify(key);
              if (seen.has(name)) continue;
              const joint = !arm.includes("bhs");
              const level = LEVEL[arm] + (joint ? -0.03 : 0.02) * (k - 2) - (joint ? 0.002 : 0) * size + (d === "long" ? 0.3 : 0);
              seen.set(name, row(key, arm, level + 0.04 * split + 0.06 * next(), next));
            }
  const all = [...seen.values()];
  // One cell has failed, and one score is far away from all others.
  Object.assign(all[3], { nlpd: null, error: `experts: too few rows ${EVIL}` });
  all[40].nlpd = 9.5;
  return all;
}

function row(key, arm, nlpd, next) {
  const passed = next() < 0.7;
  return {
    ...key,
    method: ARMS.find(([name]) => name === arm)[1],
    nlpd,
    nlpd_se: 0.05 + 0.02 * next(),
    nlpd_mcse: 0.002 + 0.004 * next(),
    crps: 0.2 + 0.1 * nlpd,
    rmse: 0.4 + 0.1 * nlpd,
    coverage_50: 0.5,
    coverage_80: 0.79,
    coverage_95: 0.93 + 0.04 * next(),
    passed,
    rhat_median: passed ? 1.002 : 1.2,
    rhat_max: passed ? 1.008 : 2.3,
    ess_median: passed ? 1500 * next() + 500 : 40,
    divergences: passed ? 0 : 3,
    leapfrogs: 31,
    chain_weights: "",
    error: "",
    version: "0.1.0",
    fit_seconds: 4 + 3 * next(),
    predict_seconds: 0.2,
  };
}

/** Make a folder with a sweep in `sweep`, and a model `model.nc` with its test table. */
export function make(gpfuse, folder) {
  const run = (...args) => execFileSync(gpfuse, args, { cwd: folder, stdio: ["ignore", "pipe", "pipe"] });
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(join(folder, "sweep", "models"), { recursive: true });
  const all = rows();
  writeFileSync(join(folder, "sweep", "settings.toml"), settings());
  writeFileSync(join(folder, "sweep", "ledger.jsonl"), all.map((r) => `${JSON.stringify(r)}\n`).join(""));
  run("simulate", "--n", "120", "--high", "0", "--out", "data.csv");
  const small = ["--warmup", "60", "--draws", "60", "--chains", "2", "--max-depth", "5"];
  for (const arm of KEPT) {
    const k = arm === "het" ? [] : ["--experts", "3"];
    const name = `paper-${arm}-rff-30-K${arm === "het" ? 1 : 3}-split0-seed0.nc`;
    run("fit", "data.csv", "--target", "y", "--method", arm, ...k, "--frequencies", "30", "--scaling", "none", ...small, "--out", join("sweep", "models", name));
  }
  // Each row is a test row of one split.
  const [head, ...lines] = readFileSync(join(folder, "data.csv"), "utf8").trim().split("\n");
  const splits = [...Array(SPLITS.paper).keys()];
  const marked = lines.map((line, i) => `${line},${splits.map((s) => (i % 5 === s ? 1 : 0)).join()}`);
  mkdirSync(join(folder, "sweep", "data"));
  writeFileSync(join(folder, "sweep", "data", "paper.csv"), `${[`${head},${splits.map((s) => `test${s}`).join()}`, ...marked].join("\n")}\n`);
  const named = readFileSync(join(folder, "data.csv"), "utf8").replace("x,y", `"${EVIL}","y </script><b>"`);
  writeFileSync(join(folder, "named.csv"), named);
  run("fit", "named.csv", "--target", "y </script><b>", "--method", "mogpe", ...small, "--out", "model.nc");
  // The default method on several inputs, with names that are no markup either.
  const table = [[`"${EVIL}"`, "x2", "x3", "z"], ...[...Array(80).keys()].map((i) => {
    const [a, b, c] = [1.3, 2.1, 0.7].map((k) => Math.sin(k * i));
    return [a, b, c, a + Math.cos(2 * b) * c + 0.1 * Math.sin(17 * i)].map((v) => v.toFixed(4));
  })];
  writeFileSync(join(folder, "three.csv"), `${table.map((row) => row.join()).join("\n")}\n`);
  run("fit", "three.csv", "--target", "z", "--gate", "gp", "--warmup", "120", "--draws", "60", "--chains", "2", "--max-depth", "5", "--out", "three.nc");
  if (!existsSync(join(folder, "model.nc"))) throw new Error("no model");
  return { rows: all };
}
