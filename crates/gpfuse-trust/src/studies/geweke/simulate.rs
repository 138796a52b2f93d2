//! The two simulations: pairs that are drawn anew, and chains that alternate.

use gpfuse::calibrate::Study;
use gpfuse::model::Posterior;
use gpfuse::random::{Purpose, stream};
use rand_chacha::ChaCha8Rng;

use crate::jobs::jobs;
use crate::joint::draw;

/// Chains, which start exactly and so need no warm-up.
pub(super) const CHAINS: usize = 8;

/// Draws of one job.
const CHUNK: usize = 500;

/// The names of the functions of parameters and data that are compared.
pub(super) fn names(study: &Study) -> Vec<String> {
    let mut out = study.names().to_vec();
    out.extend(
        ["first y", "last y", "first y squared", "product of two y", "sum of y"].map(String::from),
    );
    for part in &study.model().layout().parts {
        out.push(format!("first {}", part.name));
        out.push(format!("first {} times first y", part.name));
    }
    out
}

/// Their values.
pub(super) fn values(study: &Study, q: &[f64], y: &[f64]) -> anyhow::Result<Vec<f64>> {
    let mut out = study.measure(q, y)?;
    let (first, last) = (y[0], y[y.len() - 1]);
    out.extend([first, last, first * first, first * last, y.iter().sum()]);
    for part in &study.model().layout().parts {
        let parameter = q[part.offset];
        out.extend([parameter, parameter * first]);
    }
    Ok(out)
}

/// One column of values for each function.
pub(super) type Columns = Vec<Vec<f64>>;

fn push(columns: &mut Columns, values: Vec<f64>) {
    columns.iter_mut().zip(values).for_each(|(column, value)| column.push(value));
}

/// Pairs of parameters and data that are drawn anew: Geweke's marginal-conditional simulator.
pub(super) fn independent(
    study: &Study,
    draws: usize,
    threads: usize,
    seed: u64,
) -> anyhow::Result<Columns> {
    let functions = names(study).len();
    let chunks = jobs(draws.div_ceil(CHUNK), threads, |c| {
        let mut out = vec![Vec::with_capacity(CHUNK); functions];
        for i in c * CHUNK..draws.min((c + 1) * CHUNK) {
            let truth = draw(study, &mut stream(seed, Purpose::Start, i as u64))?;
            push(&mut out, values(study, &truth.q, &truth.y)?);
        }
        Ok(out)
    })?;
    let mut all = vec![Vec::with_capacity(draws); functions];
    for chunk in chunks {
        all.iter_mut().zip(chunk).for_each(|(all, column)| all.extend(column));
    }
    Ok(all)
}

/// Chains that alternate between a transition of the parameters given the data and new data given
/// the parameters: Geweke's successive-conditional simulator. A pair is looked at after its
/// transition, where old data have met new parameters. `renew` draws the data.
pub(super) fn successive(
    study: &Study,
    renew: impl Fn(&[f64], &mut ChaCha8Rng) -> gpfuse::Result<Vec<f64>> + Sync,
    transition: impl Fn(Posterior, &[f64], &mut ChaCha8Rng) -> anyhow::Result<Vec<f64>> + Sync,
    cycles: usize,
    threads: usize,
    seed: u64,
) -> anyhow::Result<Vec<Columns>> {
    jobs(CHAINS, threads, |c| {
        let mut rng = stream(seed, Purpose::Chain, c as u64);
        let mut out = vec![Vec::with_capacity(cycles); names(study).len()];
        let mut pair = draw(study, &mut rng)?;
        for _ in 0..cycles {
            pair.q = transition(study.posterior(&pair.y)?, &pair.q, &mut rng)?;
            push(&mut out, values(study, &pair.q, &pair.y)?);
            pair.y = renew(&pair.q, &mut rng)?;
        }
        Ok(out)
    })
}
