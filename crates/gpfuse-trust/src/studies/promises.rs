//! What is promised of every run, by the tests that hold it to that.

use crate::study::none;
use crate::suite::{self, Binary, Tested};
use crate::{Finding, Run, Study};

pub(super) const STUDY: Study = Study {
    name: "promises",
    title: "Promises",
    about: "The same version on the same target with the same seed gives the same bytes, whatever the \
            number of threads, and whether a run was left alone or killed and resumed. Densities, \
            gradients and diagnostics equal values that other programs computed.",
    run,
    figures: none,
};

const PROMISES: &[Tested] = &[
    Tested {
        claim: "Same seed, any number of threads",
        target: "the same bytes of model file and table of results; the same ranks",
        tests: &[
            "repeat threads_do_not_change_the_model_file",
            "sweep shares_and_threads_do_not_change_the_table",
            "sbc_library simulations_are_the_same_in_any_company",
        ],
    },
    Tested {
        claim: "A run that was killed and resumed",
        target: "the same bytes of model file and table as one that was left alone",
        tests: &[
            "checkpoint a_killed_fit_",
            "checkpoint weights_of_given_experts_are_kept_too",
            "sweep a_killed_sweep_ends_with_the_same_table",
        ],
    },
    Tested {
        claim: "A run that did not converge",
        target: "says so; `--strict` ends with exit code 3",
        tests: &["usage strict_judges_the_diagnostics"],
    },
    Tested {
        claim: "R-hat, ESS, MCSE, E-BFMI and PSIS-LOO against ArviZ",
        target: "equal to 1e-8",
        tests: &["diagnostics agree_with_arviz", "loo scores_agree_with_arviz"],
    },
    Tested {
        claim: "Log densities and gradients against stored values",
        target: "equal to 1e-10",
        tests: &["golden all_golden_files_agree"],
    },
];

const BINARIES: &[Binary] = &[
    ("repeat ", "gpfuse-cli", "repeat"),
    ("checkpoint ", "gpfuse-cli", "checkpoint"),
    ("sweep ", "gpfuse-cli", "sweep"),
    ("usage ", "gpfuse-cli", "usage"),
    ("sbc_library ", "gpfuse", "sbc"),
    ("diagnostics ", "gpfuse", "diagnostics"),
    ("loo ", "gpfuse", "loo"),
    ("golden ", "gpfuse", "golden"),
];

fn run(run: &Run) -> anyhow::Result<Vec<Finding>> {
    suite::findings(PROMISES, BINARIES, run)
}
