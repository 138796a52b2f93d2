//! `gpfuse stack`: weights for experts made anywhere, from a table of their predictions.

use anyhow::bail;
use gpfuse::Method;

use super::Outcome;
use super::fit::Job;
use super::training::{Training, omega};
use crate::args::StackArgs;

pub(super) fn run(args: &StackArgs) -> anyhow::Result<Outcome> {
    if let Some(name) = args.options.about_experts() {
        bail!("setting `{name}`: the experts of `stack` are those of the table: leave it out");
    }
    let mut options = args.options.clone().with_file(args.settings.as_deref())?;
    let method = *options.method.get_or_insert(Method::Pbhs);
    if method.learns_experts() {
        bail!("setting `method`: `{method}` learns experts of its own: use bhs or pbhs");
    }
    let training = Training::with_experts(&args.data, args.inputs.as_deref(), &args.target)?;
    let inputs = training.data.inputs();
    options.experts = Some(training.data.experts().len());
    let settings = options.check(inputs, omega(options.omega.as_deref(), inputs.len())?)?;
    Job {
        table: &args.data,
        out: args.out.as_deref(),
        checkpoint: args.checkpoint.as_deref(),
        json: args.json,
        strict: args.strict,
    }
    .run(&training, &settings)
}
