//! Choose a method: every one that is named on the same rows, best first, with the paired error of
//! how far each is behind.

use gpfuse::compare::{Contestant, compare};
use gpfuse::infer::Quiet;
use gpfuse::simulate::Simulate;
use gpfuse::{Data, FitSettings};

fn main() -> gpfuse::Result<()> {
    let simulated = Simulate { n: 200, ..Simulate::default() }.run()?;
    let all = Data::new(simulated.x, 1)?.with_target(simulated.y)?;
    let (test, train): (Vec<usize>, Vec<usize>) = (0..all.len()).partition(|row| row % 4 == 0);
    let (train, test) = (all.pick(&train)?, all.pick(&test)?);

    let names = ["het", "bhs", "pbhs", "gp", "stacking", "rbcm"];
    let methods = names.into_iter().map(str::parse).collect::<gpfuse::Result<Vec<Contestant>>>()?;
    let found = compare(&train, Some(&test), &FitSettings::default(), &methods, &Quiet)?;
    for (method, scored) in found.scored() {
        let behind = scored.difference.and_then(|d| Some((d.mean, d.se?)));
        let behind = behind.map_or(String::new(), |(d, se)| format!(" ({d:+.3} +- {se:.3})"));
        println!("{:10} NLPD {:.3}{behind}", method.name(), scored.nlpd.value);
    }
    Ok(())
}
