//! The contents of a model file with some of them changed, as a list of bytes says.
//!
//! The first byte chooses the file. Then each edit has 12 bytes: what to do, the group, the
//! variable, the position in it, and 8 bytes of value.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use gpfuse_io::nc::{Data, Tree};

/// The contents of the whole files of the corpus.
static BASES: LazyLock<Vec<Tree>> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = ["bases", "../../fuzz/bases"].map(|name| folder.join(name));
    let folder = folders.iter().find(|folder| folder.is_dir()).expect("the folder fuzz/bases");
    let files = std::fs::read_dir(folder).expect("a folder").flatten().map(|entry| entry.path());
    let mut files: Vec<PathBuf> = files.collect();
    files.sort();
    files.iter().map(|path| Tree::read(path).expect("a model file")).collect()
});

/// The contents after the edits.
pub fn edited(list: &[u8]) -> Tree {
    let (first, list) = list.split_first().unwrap_or((&0, &[]));
    let mut tree = BASES[usize::from(*first) % BASES.len()].clone();
    for edit in list.chunks_exact(12).take(40) {
        let value = u64::from_le_bytes(edit[4..].try_into().expect("eight bytes"));
        apply(&mut tree, [edit[0], edit[1], edit[2], edit[3]].map(usize::from), value);
    }
    tree
}

fn apply(tree: &mut Tree, [what, group, var, at]: [usize; 4], value: u64) {
    let count = tree.groups.len();
    if count == 0 {
        return;
    }
    let group = &mut tree.groups[group % count];
    match what % 8 {
        0 if !group.dims.is_empty() => {
            let count = group.dims.len();
            group.dims[at % count].1 = value as usize;
            return;
        }
        1 if !group.vars.is_empty() => {
            let count = group.vars.len();
            group.vars.remove(var % count);
            return;
        }
        _ => {}
    }
    let count = group.vars.len();
    if count == 0 {
        return;
    }
    let data = &mut group.vars[var % count].data;
    let length = data.len();
    let at = at % length.max(1);
    match (what % 8, data) {
        (2, Data::F64(v)) => v.truncate(value as usize % (length + 1)),
        (2, Data::I64(v)) => v.truncate(value as usize % (length + 1)),
        (2, Data::Bool(v)) => v.truncate(value as usize % (length + 1)),
        (2, Data::Str(v)) => v.truncate(value as usize % (length + 1)),
        (3, Data::F64(v)) => v.resize(value as usize % 400, 1.0),
        (3, Data::I64(v)) => v.resize(value as usize % 400, 1),
        (_, Data::F64(v)) if length > 0 => v[at] = f64::from_bits(value),
        (_, Data::I64(v)) if length > 0 => v[at] = value as i64,
        (_, Data::Bool(v)) if length > 0 => v[at] = !v[at],
        (what, Data::Str(v)) if length > 0 => digits(&mut v[at], what, value),
        _ => {}
    }
}

/// Change a number in a text of settings, or a byte of it.
fn digits(text: &mut String, what: usize, value: u64) {
    let mut bytes = std::mem::take(text).into_bytes();
    let starts: Vec<usize> = (1..bytes.len())
        .filter(|i| bytes[*i].is_ascii_digit() && !bytes[i - 1].is_ascii_digit())
        .collect();
    let place = (value >> 48) as usize;
    if what.is_multiple_of(2) && !starts.is_empty() {
        let start = starts[place % starts.len()];
        let end = (start..bytes.len()).find(|i| !bytes[*i].is_ascii_digit()).unwrap_or(bytes.len());
        let number = (value & 0xffff_ffff_ffff).to_string();
        bytes.splice(start..end, number.into_bytes());
    } else if !bytes.is_empty() {
        let at = place % bytes.len();
        bytes[at] = (value & 0x7f) as u8;
    }
    *text = String::from_utf8_lossy(&bytes).into_owned();
}
