//! A sound run that is damaged as real ones are: the diagnostics must see it.

use anyhow::ensure;
use gpfuse::diagnose::diagnose;
use gpfuse::fit::{FitSettings, draws};
use gpfuse::infer::{ChainDraws, Density, Draws, Quiet};
use gpfuse::model::{Method, Posterior};
use gpfuse::random::{Purpose, stream};

use crate::joint::{draw, small};
use crate::{Finding, Run};

/// Draws of each of four chains: enough for the bars of a sound run.
const DRAWS: usize = 2000;

/// A slow chain stays so many draws where it is.
const STAY: usize = 50;

/// A way to damage chains.
type Damage = fn(&mut [ChainDraws], &mut Posterior);

const DAMAGES: [(&str, Damage); 6] = [
    ("a chain that is stuck", |chains, model| repeat(&mut chains[0], model.dim(), DRAWS)),
    ("chains that hardly move", |chains, model| {
        chains.iter_mut().for_each(|chain| repeat(chain, model.dim(), STAY));
    }),
    ("a chain that is elsewhere", |chains, model| elsewhere(&mut chains[0], model)),
    ("chains that climb", |chains, model| {
        chains.iter_mut().for_each(|chain| climb(chain, model.dim()));
    }),
    ("divergences", |chains, _| {
        chains[0].stats.iter_mut().step_by(50).for_each(|stat| stat.diverging = true);
    }),
    ("a log density that is no number", |chains, _| chains[0].stats[DRAWS / 2].lp = f64::NAN),
];

/// Every `stay`th draw, so many times.
fn repeat(chain: &mut ChainDraws, dim: usize, stay: usize) {
    for i in 0..chain.stats.len() {
        let from = i - i % stay;
        chain.stats[i] = chain.stats[from];
        chain.values.copy_within(from * dim..(from + 1) * dim, i * dim);
    }
}

/// The same draws, all parameters larger by one, each with its log density.
fn elsewhere(chain: &mut ChainDraws, posterior: &mut Posterior) {
    let mut room = vec![0.0; posterior.dim()];
    let ChainDraws { values, stats } = chain;
    for (q, stat) in values.chunks_mut(posterior.dim()).zip(stats) {
        q.iter_mut().for_each(|v| *v += 1.0);
        stat.lp = posterior.logp(q, &mut room).unwrap_or(stat.lp);
    }
}

/// The same draws, those of the lowest density first.
fn climb(chain: &mut ChainDraws, dim: usize) {
    let mut order: Vec<usize> = (0..chain.stats.len()).collect();
    order.sort_by(|a, b| chain.stats[*a].lp.total_cmp(&chain.stats[*b].lp));
    let draw = |i: &usize| &chain.values[i * dim..(i + 1) * dim];
    let values = order.iter().flat_map(draw).copied().collect();
    *chain = ChainDraws { values, stats: order.iter().map(|i| chain.stats[*i]).collect() };
}

/// Whether a run passes as it is and with no damage to it.
pub(super) fn damaged(run: &Run) -> anyhow::Result<Finding> {
    let study = small(Method::Bhs, run.seed)?;
    let truth = draw(&study, &mut stream(run.seed, Purpose::Simulate, 0))?;
    let posterior = study.posterior(&truth.y)?;
    let mut settings = FitSettings { method: Method::Bhs, experts: 2, ..FitSettings::default() };
    (settings.sampler.draws, settings.sampler.target_accept) = (Some(DRAWS), Some(0.95));
    (settings.sampler.seed, settings.sampler.threads) = (run.seed, run.threads);
    let sound = draws(&posterior, &settings.check()?, &Quiet)?;
    ensure!(sound.per_chain() == DRAWS, "a chain has {} draws", sound.per_chain());
    let warnings =
        |draws: &Draws| Ok::<_, anyhow::Error>(diagnose(&posterior, draws, run.threads)?.warnings);
    let before = warnings(&sound)?;
    let (mut seen, mut unseen) = (Vec::new(), Vec::new());
    for (name, damage) in DAMAGES {
        let mut chains = sound.chains().to_vec();
        damage(&mut chains, &mut posterior.clone());
        let after = warnings(&Draws::new(sound.dim(), DRAWS, chains)?)?;
        if after.is_empty() { &mut unseen } else { &mut seen }.push(name);
    }
    let mut result = match before.first() {
        None => format!("no warning before; seen: {}", seen.join(", ")),
        Some(first) => format!("before: {first}"),
    };
    if !unseen.is_empty() {
        result += &format!("; not seen: {}", unseen.join(", "));
    }
    let target = format!("no warning before, each of {} damages is seen", DAMAGES.len());
    let met = before.is_empty() && unseen.is_empty();
    Ok(Finding::new("A sound run passes, and does not once it is damaged", target, result, met).with(
        format!(
            "bhs on four rows, 4 chains of {DRAWS} draws; nothing random but the run itself, whose seed \
             is fixed"
        ),
    ))
}
