//! Reading a model runs nothing and loads nothing, whatever its words say.

use std::fs;
use std::path::Path;

use crate::common::{Place, SMALL_FIT};
use crate::shell::{ran, works, wrapped};
use crate::{place, skipped};

/// Names that would do something to whoever took them for more than names.
const HOSTILE: [&str; 2] = [
    "<script>alert(1)</script><img src=x onerror=alert(1)>",
    "$(touch owned); `touch owned`; __import__('os').system('touch owned')",
];

#[test]
fn hostile_names_are_plain_text() {
    let place = Place::new();
    let table =
        place.text("d.csv").replacen("x,y", &format!("\"{}\",\"{}\"", HOSTILE[0], HOSTILE[1]), 1);
    place.write("h.csv", table);
    let mut fit = place.command(&format!("fit h.csv {SMALL_FIT} --out h.nc --target"));
    let output = fit.arg(HOSTILE[1]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let seen = place.done("inspect h.nc --json").json().to_string();
    assert!(seen.contains("<script>alert(1)</script>") && seen.contains("touch owned"), "{seen}");
    assert_eq!(place.done("predict h.nc h.csv").table().rows.len(), 40);
    place.done("report h.nc --data h.csv --out h.html --figures figs");
    let page = place.text("h.html");
    assert!(!page.contains("<script>alert") && !page.contains("<img src=x"), "markup from a name");
    assert!(page.contains("&lt;script&gt;alert(1)"), "the name is not shown");
    for figure in place.path("figs").read_dir().unwrap().flatten() {
        let bytes = fs::read(figure.path()).unwrap();
        assert!(!String::from_utf8_lossy(&bytes).contains("<script"), "{:?}", figure.path());
    }
    assert!(!place.path("owned").exists());
}

/// HDF5 loads filters from this folder, where its own library reads a file.
#[test]
fn no_plugin_is_looked_for() {
    if !works("strace -f -o /dev/null true") {
        return skipped("plugins", "no strace (Debian package strace)");
    }
    let place = place();
    fs::create_dir(place.path("plugins")).unwrap();
    place.write("plugins/libh5trap.so", "no library");
    let trace = "strace -f -qq -o trace -e trace=open,openat,execve,memfd_create";
    let before: Vec<&str> = trace.split(' ').collect();
    let text = "export HDF5_PLUGIN_PATH=$PWD/plugins; exec $G inspect m.nc";
    let run = ran(wrapped(&place, &before, text));
    assert_eq!(run.code, Some(0), "{}", run.err);
    let trace = place.text("trace");
    let at = trace.find("m.nc\", O_RDONLY").expect("the model is opened");
    assert!(!trace.contains("plugins"), "{trace}");
    let after = &trace[at..];
    assert!(
        !after.contains(".so") && !after.contains("execve(") && !after.contains("memfd"),
        "{after}"
    );
}

/// `gpfuse.load` reads a file with the same code and then JSON; nothing of the package unpickles.
#[test]
fn the_python_package_runs_nothing_that_it_reads() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../python/gpfuse");
    let mut files = 0;
    for file in fs::read_dir(folder).unwrap().flatten() {
        let text = fs::read_to_string(file.path()).unwrap_or_default();
        files += usize::from(text.contains("import"));
        for call in [
            "pickle.load",
            "import pickle",
            "joblib.load",
            "eval(",
            "exec(",
            "os.system",
            "subprocess",
        ] {
            let found = text.lines().find(|line| {
                let at = line.find(call);
                // `model.eval(` and `retrieval(` are other names.
                at.is_some_and(|at| {
                    !line[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '.')
                })
            });
            assert_eq!(found, None, "{:?}: {call}", file.path());
        }
    }
    assert!(files > 20, "only {files} files of Python");
}
