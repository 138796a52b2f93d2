//! `gpfuse stack`: weights for experts made anywhere, from a table of their predictions.

use anyhow::bail;
use gpfuse::Method;

use super::Outcome;
use super::fit::fit_and_save;
use super::training::{Methods, Training, missing, settled};
use crate::args::{FitArgs, MAKE_EXPERTS};

pub(super) fn run(args: &FitArgs) -> anyhow::Result<Outcome> {
    let typed = args.options.given.names().find(|name| MAKE_EXPERTS.contains(name));
    if let Some(name) = typed.or(args.assign.as_ref().map(|_| "assign")) {
        let name = name.replace('_', "-");
        bail!("setting `{name}`: the experts of `stack` are those of the table: leave it out");
    }
    let mut given = args.options.with_file(args.settings.as_deref())?;
    MAKE_EXPERTS.iter().for_each(|name| drop(given.remove(name)));
    let training = Training::with_experts(&args.data, (&args.columns).into(), missing(&given)?)?;
    if given.get("method").is_none() {
        // A product has to know more than log densities.
        let normal = training.data.predictions().is_none_or(|said| said.normal().is_some());
        given.set("method", if normal { Method::Pbhs } else { Method::Bhs }.name());
    }
    training.tell();
    given.set("experts", training.data.experts().len());
    let settings = settled(given, &training.data, Methods::One)?;
    fit_and_save(args, &training, &settings)
}
