//! Run the frozen protocol: `protocol DIR METHOD BASIS SIZE K DEPTH SEEDS [key=value ...]`
use gpfuse::basis::{Basis, Hilbert, Rff};
use gpfuse::infer::{Quiet, Settings, Start, sample};
use gpfuse::kernel::Kernel;
use gpfuse::model::{Data, Method, Model, Posterior, Priors};
use std::sync::Arc;
use std::time::Instant;

fn table(path: &str) -> (Vec<String>, Vec<Vec<f64>>) {
    let text = std::fs::read_to_string(path).unwrap();
    let mut lines = text.lines();
    let names = lines.next().unwrap().split(',').map(String::from).collect();
    (names, lines.map(|l| l.split(',').map(|v| v.parse().unwrap_or(f64::NAN)).collect()).collect())
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (dir, method, basis, size, k, depth, seeds) = (
        &args[0],
        args[1].parse::<Method>().unwrap(),
        &args[2],
        args[3].parse::<usize>().unwrap(),
        args[4].parse::<usize>().unwrap(),
        args[5].parse::<usize>().unwrap(),
        args[6].parse::<u64>().unwrap(),
    );
    let (names, rows) = table(&format!("{dir}/data.csv"));
    let (fnames, freqs) = table(&format!("{dir}/frequencies.csv"));
    let col = |n: &str| names.iter().position(|m| m == n).unwrap();
    let mut all = vec![];
    for split in 0..5 {
        let t = col(&format!("test{split}"));
        let pick = |c: usize, test: bool| -> Vec<f64> {
            rows.iter().filter(|r| (r[t] == 1.0) == test).map(|r| r[c]).collect()
        };
        let (x, y) = (pick(col("x"), false), pick(col("y"), false));
        let (xt, yt) = (pick(col("x"), true), pick(col("y"), true));
        let basis = match basis.as_str() {
            "rff" => {
                let c = fnames.iter().position(|m| m.ends_with(&split.to_string())).unwrap();
                Basis::Rff(
                    Rff::new(Kernel::Rbf, freqs.iter().take(size).map(|r| r[c]).collect(), 1)
                        .unwrap(),
                )
            }
            _ => {
                Basis::Hilbert(Hilbert::new(Kernel::Rbf, vec![0.0], vec![6.5], vec![size]).unwrap())
            }
        };
        let model = Arc::new(Model::new(method, k, basis, Priors::default()).unwrap());
        let posterior =
            Posterior::new(model.clone(), Arc::new(Data::new(&x, 1, &y).unwrap())).unwrap();
        let mut test =
            Posterior::new(model.clone(), Arc::new(Data::new(&xt, 1, &yt).unwrap())).unwrap();
        for seed in 0..seeds {
            let mut s = Settings { max_depth: depth, seed, ..Settings::default() };
            for a in &args[7..] {
                let (key, v) = a.split_once('=').unwrap();
                match key {
                    "cand" => s.candidates = v.parse().unwrap(),
                    "steps" => s.start_steps = v.parse().unwrap(),
                    "start" => s.start = match v { "prior" => Start::Prior, "map" => Start::Map, _ => Start::Pilot },
                    "accept" => s.target_accept = v.parse().unwrap(),
                    "warmup" => s.warmup = v.parse().unwrap(),
                    "draws" => s.draws = v.parse().unwrap(),
                    _ => panic!(),
                }
            }
            let now = Instant::now();
            let m2 = model.clone();
            let draws = sample(
                &posterior,
                &move |normal| m2.prior_draw(normal),
                &s.clone().check().unwrap(),
                &Quiet,
            )
            .unwrap();
            let time = now.elapsed().as_secs_f64();
            let mut chains = vec![];
            let n = yt.len();
            let mut total = vec![vec![]; n];
            let mut lp = vec![0.0; n];
            for c in draws.chains() {
                let mut own = vec![vec![]; n];
                for q in c.values.chunks(draws.dim()) {
                    test.pointwise(q, &mut lp);
                    for i in 0..n {
                        own[i].push(lp[i]);
                        total[i].push(lp[i]);
                    }
                }
                chains.push(nlpd(&own));
            }
            let div: usize =
                draws.chains().iter().flat_map(|c| &c.stats).filter(|s| s.diverging).count();
            let steps: f64 =
                draws.chains().iter().flat_map(|c| &c.stats).map(|s| s.steps as f64).sum::<f64>()
                    / draws.len() as f64;
            let lps: Vec<f64> = draws
                .chains()
                .iter()
                .map(|c| c.stats.iter().map(|s| s.lp).sum::<f64>() / c.stats.len() as f64)
                .collect();
            let v = nlpd(&total);
            all.push(v);
            println!(
                "split {split} seed {seed} nlpd {v:.4} chains {chains:.3?} lp {lps:.0?} div {div} steps {steps:.1} time {time:.1}"
            );
        }
    }
    println!("MEAN {:.4}  ({:?})", all.iter().sum::<f64>() / all.len() as f64, args);
}

fn nlpd(rows: &[Vec<f64>]) -> f64 {
    -rows
        .iter()
        .map(|v| {
            let m = v.iter().fold(f64::MIN, |a, b| a.max(*b));
            m + (v.iter().map(|x| (x - m).exp()).sum::<f64>() / v.len() as f64).ln()
        })
        .sum::<f64>()
        / rows.len() as f64
}
