//! `gpfuse stack`: weights for experts made anywhere, from a table of their predictions.

use std::path::Path;
use std::time::Instant;

use anyhow::{anyhow, bail};
use gpfuse::fit::stack;
use gpfuse::model::Method;
use gpfuse_io::model_file::{self, Saved, Training};
use gpfuse_io::table::{Table, header};

use super::checkpoint::{self, Subject};
use super::fit::{report, watched};
use super::training::{
    Methods, expert_columns, expert_names, in_table, inputs, model_out, predictions, settled,
};
use super::{Outcome, interleave, judged};
use crate::args::{FitArgs, MAKE_EXPERTS};
use crate::progress::cancelled;

pub(super) fn run(args: &FitArgs) -> anyhow::Result<Outcome> {
    let typed = args.options.given.names().find(|name| MAKE_EXPERTS.contains(name));
    if let Some(name) = typed.or(args.assign.as_ref().map(|_| "assign")) {
        let name = name.replace('_', "-");
        bail!("setting `{name}`: the experts of `stack` are those of the table: leave it out");
    }
    let mut given = args.options.with_file(args.settings.as_deref())?;
    MAKE_EXPERTS.iter().for_each(|name| drop(given.remove(name)));
    if given.get("method").is_none() {
        given.set("method", Method::Pbhs.name());
    }
    if args.data == Path::new("-") {
        bail!("`stack` reads its table twice and cannot read standard input: give a file");
    }
    let expert = |name: &str| name.starts_with("mean_") || name.starts_with("sd_");
    let inputs = inputs(&args.data, args.inputs.as_deref(), &args.target, expert)?;
    let names = expert_names(&args.data, &header(&args.data)?, &inputs)?;
    given.set("experts", names.len());
    let settings = settled(given, &inputs, Methods::One)?;
    if settings.method.learns_experts() {
        let method = settings.method;
        bail!("setting `method`: `{method}` learns experts of its own: use bhs or pbhs");
    }
    let out = model_out(args.out.as_deref(), &args.data)?;
    let columns = expert_columns(&names);
    let wanted = inputs.iter().chain([&args.target]).chain(&columns);
    let wanted: Vec<&str> = wanted.map(String::as_str).collect();
    let table = Table::read(&args.data, Some(&wanted))?;
    let x = interleave(&table.columns[..inputs.len()]);
    let y = table.column(&args.target).unwrap_or_default().to_vec();
    let said = predictions(&table, &names)?.ok_or_else(|| anyhow!("there are no experts"))?;

    let training = Training { x: &x, y: &y, predictions: Some(&said) };
    let subject = Subject {
        inputs: &inputs,
        target: &args.target,
        experts: &names,
        assignment: None,
        table: training,
    };
    let folder = args.checkpoint.as_deref();
    let kept = checkpoint::open(folder, &settings, &subject)?;

    let begun = Instant::now();
    let fitted = watched(settings.method.name(), &settings, kept.as_ref(), |monitor| {
        stack(&x, inputs.len(), &y, names, &said, &settings, monitor)
    });
    if checkpoint::stopped(folder, &fitted) {
        return Ok(Outcome::Interrupted);
    }
    let fitted = fitted.map_err(|e| in_table(e, &table.path))?;
    let saved = Saved { fitted, inputs, target: args.target.clone() };
    let seconds = begun.elapsed().as_secs_f64();
    model_file::save(&out, &saved, training)?;
    if let Some(kept) = kept {
        kept.remove();
    }
    report(&saved, &out, y.len(), seconds, args.json)?;
    // With a checkpoint, a run that came to its end is done, even if it was asked to stop.
    if cancelled() && folder.is_none() {
        return Ok(Outcome::Interrupted);
    }
    Ok(judged(&saved, args.strict))
}
