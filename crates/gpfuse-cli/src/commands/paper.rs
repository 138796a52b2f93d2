//! `gpfuse paper`: the paper's experiments as a sweep whose file is part of the program.

use gpfuse_paper::{PATH, Protocol, TEXT};

use super::Outcome;
use super::sweep::{Written, start};
use crate::args::PaperArgs;

pub(super) fn run(args: &PaperArgs) -> anyhow::Result<Outcome> {
    // Its paths are typed, and start from where the program was started.
    let written = Written { path: PATH.into(), text: TEXT.into() };
    let basis = (args.basis != "both").then_some(args.basis.as_str());
    let protocol = Protocol { quick: args.quick, basis, frozen: args.frozen.as_deref() };
    start(protocol.file()?, &written, &args.how)
}
