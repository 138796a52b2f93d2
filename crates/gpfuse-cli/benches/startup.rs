//! How soon the program answers: `gpfuse --version`, and `gpfuse fit` on 50 rows, by the clock on
//! the wall; the best and the median of several.
#![allow(clippy::expect_used, missing_docs)]

use std::fmt::Write;
use std::process::{Command, Stdio};
use std::time::Instant;

fn main() {
    let place = std::env::temp_dir().join(format!("gpfuse-startup-{}", std::process::id()));
    std::fs::create_dir_all(&place).expect("a folder");
    let mut table = String::from("x,y\n");
    for i in 0..50 {
        // A sine and some noise.
        let (x, noise) = (f64::from(i) / 5.0, f64::from(i * 7919 % 101) / 101.0 - 0.5);
        writeln!(table, "{x},{}", x.sin() + 0.5 * noise).expect("a string");
    }
    let (data, model) = (place.join("fifty.csv"), place.join("fifty.nc"));
    std::fs::write(&data, table).expect("a file");
    let fit: [&str; 6] = [
        "fit",
        data.to_str().expect("a name"),
        "--target",
        "y",
        "--out",
        model.to_str().expect("a name"),
    ];
    time("gpfuse --version", &["--version"], 50);
    time("gpfuse fit, 50 rows", &fit, 5);
    std::fs::remove_dir_all(&place).expect("the folder");
}

fn time(what: &str, args: &[&str], count: usize) {
    let once = || {
        let begun = Instant::now();
        let mut command = Command::new(env!("CARGO_BIN_EXE_gpfuse"));
        let done = command.args(args).stdout(Stdio::null()).stderr(Stdio::null()).status();
        assert!(done.is_ok_and(|status| status.success()), "{what} failed");
        begun.elapsed().as_secs_f64()
    };
    let mut seconds: Vec<f64> = (0..count).map(|_| once()).collect();
    seconds.sort_by(f64::total_cmp);
    println!("{what}: best {:.1} ms, median {:.1} ms", 1e3 * seconds[0], 1e3 * seconds[count / 2]);
}
