//! Whether MoGPE gains from alternating assignments and the collapsed density: `alternate check`,
//! or `alternate DIR RESULTS [SPLITS]`.
//!
//! Given each row's expert z, the posterior falls apart: every expert is a `het` of its own rows, whose
//! mean's coefficients theta can be integrated out, and the gates see z alone. A round is (a) given z, a
//! transition of HMC for each expert's h, which is all but theta, and some for the gates; (b) theta given h and z, from its normal law; (c) z given theta and h, row by row. As theta is
//! drawn anew before z is, (a) and (b) together leave the law of (h, theta) given z as it is.
//!
//! The first form compares means of both samplers on a small problem. The second runs them on splits of
//! the frozen protocol (DIR as for `protocol`), K = 3, 60 Hilbert functions, from the same prior
//! draws; each finished run is a line of RESULTS, and runs that it holds are not run again.

mod frozen;
#[path = "alternate/hmc.rs"]
mod hmc;
#[path = "frozen/ledger.rs"]
mod ledger;

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use frozen::{Outcome, Paper};
use gpfuse::basis::{Basis, Hilbert};
use gpfuse::diagnose::{diagnose, mcse_mean};
use gpfuse::infer::{ChainDraws, Checked, Density, Draws, Quiet, Settings, Start, Stat, sample};
use gpfuse::kernel::Kernel;
use gpfuse::metrics::evaluate;
use gpfuse::model::{Collapsed, Method, Model, Observed, Posterior, Priors, Role};
use gpfuse::predict::Predictor;
use gpfuse::random::{Purpose, stream};
use gpfuse::rows::Rows;
use gpfuse::scale::Affine;
use hmc::Block;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

/// Sampler, most steps of a trajectory, warm-up and draws per chain.
type Cell = (&'static str, usize, usize, usize);

const CELLS: [Cell; 6] = [
    ("plain", 31, 500, 500),
    ("plain", 31, 500, 5000),
    ("plain", 31, 500, 11_000),
    ("alternate", 15, 500, 500),
    ("alternate", 40, 500, 500),
    ("alternate", 15, 500, 2500),
];
const HEADER: &str = "sampler,steps,warmup,draws,split,seed,nlpd,mcse,rhat_median,ess_median,\
                      seconds,cpu_seconds,ess_per_cpu_second";

/// Transitions of the gates in a round: their gradients cost next to nothing.
const GATES: usize = 3;

/// How many standard deviations the other experts of a row are away.
const FAR: f64 = 100.0;

fn main() -> Outcome<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<&str>>()[..] {
        ["check"] => check(),
        [dir, results] => compare(dir, results, 1),
        [dir, results, splits] => compare(dir, results, splits.parse()?),
        _ => Err("usage: alternate check, or alternate DIR RESULTS [SPLITS]".into()),
    }
}

/// A mixture with its rows, and the parts that it falls into.
#[derive(Clone)]
struct Mixture {
    whole: Posterior,
    /// One expert, and the gates alone: a stacking of experts who are sure of their rows.
    one: Arc<Model>,
    gates: Arc<Model>,
    x: Vec<f64>,
    y: Vec<f64>,
    /// One expert on all rows, and the gates with all rows given to each expert in turn.
    everywhere: Posterior,
    sure: Vec<Posterior>,
}

impl Mixture {
    fn new(experts: usize, basis: &Basis, x: &[f64], y: &[f64]) -> Outcome<Mixture> {
        let model = |method: Method| {
            Model::new(method, experts, basis.clone(), Priors::default()).map(Arc::new)
        };
        let data = Arc::new(Observed::new(x, 1, y)?);
        let (one, gates) = (model(Method::Het)?, model(Method::Bhs)?);
        let sure = |k: usize| gates_given(&gates, x, &vec![k; y.len()]);
        Ok(Mixture {
            whole: Posterior::new(model(Method::Mogpe)?, data.clone())?,
            everywhere: Posterior::new(one.clone(), data)?,
            sure: (0..experts).map(sure).collect::<Outcome<_>>()?,
            x: x.to_vec(),
            y: y.to_vec(),
            one,
            gates,
        })
    }

    /// Where the numbers of expert k are in the whole vector, in the order of its own.
    fn own(&self, k: usize) -> Vec<usize> {
        let parts = self.whole.model().layout().parts.iter();
        let parts = parts.filter(|p| matches!(p.role, Some(Role::Mu | Role::LogSd)));
        parts.flat_map(|p| p.offset + k * p.width..p.offset + (k + 1) * p.width).collect()
    }

    /// The density of expert k without its mean's coefficients, given its rows; none without any.
    fn expert(&self, k: usize, z: &[usize]) -> Outcome<Option<Collapsed>> {
        let pick = |v: &[f64]| -> Vec<f64> {
            v.iter().zip(z).filter(|(_, z)| **z == k).map(|(v, _)| *v).collect()
        };
        let (x, y) = (pick(&self.x), pick(&self.y));
        if y.is_empty() {
            return Ok(None);
        }
        let data = Arc::new(Observed::new(&x, 1, &y)?);
        Ok(Some(Collapsed::new(Posterior::new(self.one.clone(), data)?)?))
    }

    /// A draw of each row's expert given all parameters.
    fn assign(&mut self, q: &[f64], rng: &mut ChaCha8Rng) -> Vec<usize> {
        let n = self.y.len();
        let mut log_p = vec![vec![0.0; n]; self.sure.len()];
        let mut log_w = vec![0.0; n];
        let gates = &q[q.len() - self.gates.dim()..];
        for k in 0..log_p.len() {
            let own: Vec<f64> = self.own(k).into_iter().map(|i| q[i]).collect();
            self.everywhere.pointwise(&own, &mut log_p[k]);
            self.sure[k].pointwise(gates, &mut log_w);
            log_p[k].iter_mut().zip(&log_w).for_each(|(p, w)| *p += w);
        }
        let draw = |row: usize| {
            let top = log_p.iter().map(|p| p[row]).fold(f64::MIN, f64::max);
            let p: Vec<f64> = log_p.iter().map(|p| (p[row] - top).exp()).collect();
            let mut left = rng.random::<f64>() * p.iter().sum::<f64>();
            let taken = p.iter().position(|p| {
                left -= p;
                left < 0.0
            });
            taken.unwrap_or(p.len() - 1)
        };
        (0..n).map(draw).collect()
    }

    /// One chain, with at most `steps` steps in a trajectory of an expert.
    fn chain(mut self, c: usize, steps: usize, settings: &Checked) -> Outcome<ChainDraws> {
        let mut first = stream(settings.seed, Purpose::Start, c as u64);
        let model = self.whole.model().clone();
        let mut q = model.prior_draw(|| StandardNormal.sample(&mut first));
        let rng = &mut stream(settings.seed, Purpose::Chain, c as u64);
        let mut z = self.assign(&q, rng);
        let (experts, at_gates) = (self.sure.len(), q.len() - self.gates.dim());
        let shape = self.expert(0, &vec![0; z.len()])?.ok_or("no rows")?;
        let mut blocks: Vec<Block> =
            (0..experts).map(|_| Block::new(shape.dim(), steps, settings)).collect();
        let mut gate_block = Block::new(self.gates.dim(), 15, settings);
        let (mut out, mut grad) = (ChainDraws::default(), vec![0.0; q.len()]);
        for round in 0..settings.warmup + settings.draws {
            for (k, block) in blocks.iter_mut().enumerate() {
                let places = self.own(k);
                let own: Vec<f64> = places.iter().map(|i| q[*i]).collect();
                let full = match self.expert(k, &z)? {
                    Some(mut density) => {
                        let mut h = shape.shorten(&own);
                        block.transit(&mut density, &mut h, round, rng);
                        let normal = || StandardNormal.sample(rng);
                        density.complete(&h, normal).ok_or("no coefficients")?
                    }
                    // Without rows the posterior is the prior.
                    None => self.one.prior_draw(|| StandardNormal.sample(rng)),
                };
                places.iter().zip(&full).for_each(|(i, v)| q[*i] = *v);
            }
            let mut density = gates_given(&self.gates, &self.x, &z)?;
            for _ in 0..GATES {
                gate_block.transit(&mut density, &mut q[at_gates..], round, rng);
            }
            z = self.assign(&q, rng);
            if round >= settings.warmup {
                let lp = self.whole.logp(&q, &mut grad)?;
                out.values.extend_from_slice(&q);
                out.stats.push(Stat { lp, energy: -lp, ..Stat::default() });
            }
        }
        Ok(out)
    }

    /// All chains, on as many threads as the settings say.
    fn alternate(&self, steps: usize, settings: &Checked) -> Outcome<Draws> {
        let some = |first: usize| {
            let own = (first..settings.chains).step_by(settings.threads);
            let chain = |c: usize| self.clone().chain(c, steps, settings);
            own.map(chain).collect::<Outcome<Vec<ChainDraws>>>().map_err(|e| e.to_string())
        };
        let found: Vec<_> = std::thread::scope(|scope| {
            let spawn = |first: usize| scope.spawn(move || some(first));
            let handles: Vec<_> = (0..settings.threads).map(spawn).collect();
            handles.into_iter().map(|h| h.join()).collect()
        });
        let mut chains = Vec::new();
        for own in found {
            chains.extend(own.map_err(|_| "a chain panicked")??);
        }
        Ok(Draws::new(self.whole.model().dim(), settings.draws, chains)?)
    }

    fn plain(&self, settings: &Checked) -> Outcome<Draws> {
        let model = self.whole.model().clone();
        let first = |normal: &mut dyn FnMut() -> f64| model.prior_draw(normal);
        Ok(sample(&self.whole, &first, settings, &Quiet)?)
    }
}

/// The density of the gates given each row's expert, but for a constant.
fn gates_given(gates: &Arc<Model>, x: &[f64], z: &[usize]) -> Outcome<Posterior> {
    let experts = gates.experts();
    let of = |k: usize| z.iter().map(|z| if *z == k { 0.0 } else { FAR }).collect();
    let mean: Vec<Vec<f64>> = (0..experts).map(of).collect();
    let data = Observed::new(x, 1, &vec![0.0; z.len()])?;
    let data = data.with_given(&mean, &vec![vec![1.0; z.len()]; experts])?;
    Ok(Posterior::new(gates.clone(), Arc::new(data))?)
}

/// What both samplers say about a small problem; an error where they disagree.
fn check() -> Outcome<()> {
    let mut rng = stream(5, Purpose::Simulate, 0);
    let mut normal = || -> f64 { StandardNormal.sample(&mut rng) };
    let x: Vec<f64> = (0..24).map(|i| -2.0 + f64::from(i) / 6.0).collect();
    let y: Vec<f64> = (x.iter().enumerate())
        .map(|(i, x)| if i % 3 == 0 { -1.0 } else { x.sin() } + 0.3 * normal())
        .collect();
    let basis = Basis::Hilbert(Hilbert::new(Kernel::Rbf, vec![0.0], vec![3.0], vec![5])?);
    let mixture = Mixture::new(2, &basis, &x, &y)?;
    let settings = settings(1000, 10_000)?;
    let found = [mixture.plain(&settings)?, mixture.alternate(15, &settings)?];
    let mut few = mixture.whole.thinned(8)?;
    let means = found.map(|draws| {
        let mut traces = vec![Vec::new(); 24];
        for q in draws.iter() {
            few.invariants(q, |kind, row, value| traces[8 * kind + row].push(value));
        }
        let mean = |v: &Vec<f64>| v.iter().sum::<f64>() / v.len() as f64;
        traces.iter().map(|v| (mean(v), mcse_mean(&draws.by_chain(v)))).collect::<Vec<_>>()
    });
    let mut worst = 0.0_f64;
    for (i, (a, b)) in means[0].iter().zip(&means[1]).enumerate() {
        let z = (a.0 - b.0) / a.1.hypot(b.1);
        println!("{i:2}: plain {:.4} ({:.4}), alternate {:.4} ({:.4}), {z:.1}", a.0, a.1, b.0, b.1);
        worst = worst.max(z.abs());
    }
    if worst < 5.0 { Ok(()) } else { Err(format!("{worst:.1} errors apart").into()) }
}

/// Prior starts, depth 5, two threads.
fn settings(warmup: usize, draws: usize) -> Outcome<Checked> {
    let (max_depth, threads, start) = (5, 2, Start::Prior);
    Ok(Settings { warmup, draws, max_depth, threads, start, ..Settings::default() }.check()?)
}

fn compare(dir: &str, results: &str, splits: usize) -> Outcome<()> {
    let paper = Paper::read(Path::new(dir))?;
    for (split, cell) in (0..splits).flat_map(|s| CELLS.into_iter().map(move |c| (s, c))) {
        let (sampler, steps, warmup, draws) = cell;
        let key = format!("{sampler},{steps},{warmup},{draws},{split},0,");
        ledger::once(Path::new(results), HEADER, &key, || run(&paper, cell, split))?;
    }
    Ok(())
}

/// The processor time of this process, where Linux tells it: other work beside it does not count.
fn cpu_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let ticks = text.split(' ').skip(13).take(2).filter_map(|t| t.parse::<f64>().ok());
    ticks.sum::<f64>() / 100.0
}

/// One run: a line of the results without its key.
fn run(paper: &Paper, cell: Cell, split: usize) -> Outcome<String> {
    let (sampler, steps, warmup, draws) = cell;
    let settings = settings(warmup, draws)?;
    let train = paper.rows(Method::Mogpe, 3, split, false)?;
    let test = paper.rows(Method::Mogpe, 3, split, true)?;
    let mixture = Mixture::new(3, &paper.basis("hilbert", 60, split)?, &train.x, &train.y)?;
    let (begun, used) = (Instant::now(), cpu_seconds());
    let draws = match sampler {
        "plain" => mixture.plain(&settings)?,
        _ => mixture.alternate(steps, &settings)?,
    };
    let (seconds, used) = (begun.elapsed().as_secs_f64(), cpu_seconds() - used);
    let model = mixture.whole.model().clone();
    let predictor = Predictor::new(model.clone(), &draws, Affine::IDENTITY);
    let rows = Rows::new(&test.x, 1)?;
    let nlpd = evaluate(&predictor.at(&rows, None), &test.y, 2)?.nlpd;
    let went = diagnose(&Posterior::new(model, test.data()?)?, &draws, 2)?;
    let (rhat, ess) = (went.quantities[0].rhat_median, went.quantities[0].ess_bulk_median);
    let (value, mcse, rate) = (nlpd.value, nlpd.mcse.unwrap_or(f64::NAN), ess / used);
    Ok(format!("{value:.5},{mcse:.5},{rhat:.3},{ess:.1},{seconds:.1},{used:.1},{rate:.2}"))
}
