//! Tests of the model file: what goes in comes out, and damage is told from other files.

use std::fs;
use std::path::{Path, PathBuf};

use netcdf_writer::{NcAttrValue, NcFileBuilder, NcWriteFormat, NcWriteOptions};
use tempfile::TempDir;

use super::write::chunks;
use super::{Data, Group, NcError, Tree, Var};

fn var(name: &str, dims: &[&str], data: Data) -> Var {
    let dims = dims.iter().map(ToString::to_string).collect();
    Var { name: name.into(), dims, data, attrs: Vec::new() }
}

fn texts(values: &[&str]) -> Data {
    Data::Str(values.iter().map(ToString::to_string).collect())
}

/// A tree in name order, as it is read back.
fn sample(draws: usize) -> Tree {
    let dims = [("chain", 2), ("draw", draws), ("expert", 3)];
    let dims: Vec<(String, usize)> = dims.iter().map(|(n, s)| (n.to_string(), *s)).collect();
    let wave = |count: usize| (0..count).map(|i| (i as f64 * 0.37).sin()).collect();
    let posterior = Group {
        name: "posterior".into(),
        dims: dims.clone(),
        attrs: vec![("created_by".into(), "gpfuse".into()), ("unit".into(), "µm²".into())],
        vars: vec![
            var("chain", &["chain"], Data::I64(vec![0, 1])),
            var("draw", &["draw"], Data::I64((0..draws as i64).collect())),
            var("expert", &["expert"], texts(&["a", "", "größer"])),
            Var {
                attrs: vec![("long_name".into(), "log weight".into())],
                ..var("w", &["chain", "draw", "expert"], Data::F64(wave(6 * draws)))
            },
        ],
    };
    let stats = Group {
        name: "sample_stats".into(),
        dims: dims[..2].to_vec(),
        attrs: Vec::new(),
        vars: vec![
            var(
                "diverging",
                &["chain", "draw"],
                Data::Bool((0..2 * draws).map(|i| i % 7 == 0).collect()),
            ),
            var("lp", &["chain", "draw"], Data::F64(wave(2 * draws))),
        ],
    };
    let settings = Group {
        name: "gpfuse".into(),
        dims: vec![("unused".into(), 5)],
        attrs: vec![("empty".into(), String::new())],
        vars: vec![
            var("edge", &[], Data::F64(vec![f64::NAN])),
            var("seed", &[], Data::I64(vec![i64::MIN])),
            var("settings", &[], texts(&[&"{\"a\": 1}".repeat(20_000)])),
        ],
    };
    Tree { groups: vec![settings, posterior, stats] }
}

fn place(name: &str) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    (folder, path)
}

/// The error's text, which must be one line that names the file.
fn message(path: &Path) -> String {
    let text = Tree::read(path).unwrap_err().to_string();
    assert!(text.contains(&format!("`{}`", path.display())), "{text}");
    assert_eq!(text.lines().count(), 1, "{text}");
    text
}

#[test]
fn everything_comes_back() {
    let (_folder, path) = place("m.nc");
    for draws in [1, 7, 1001, 50_000] {
        let tree = sample(draws);
        tree.write(&path).unwrap();
        // NaN differs from itself, so the texts are compared.
        let back = Tree::read(&path).unwrap();
        assert!(format!("{back:?}") == format!("{tree:?}"), "{draws} draws");
    }
    let back = Tree::read(&path).unwrap();
    let posterior = back.group("posterior").unwrap();
    assert!(posterior.attrs.contains(&("unit".to_string(), "µm²".to_string())));
    let var = |name: &str| posterior.vars.iter().find(|var| var.name == name);
    assert_eq!(var("w").unwrap().data.len(), 300_000);
    assert!(back.group("prior").is_none() && var("v").is_none());
}

#[test]
fn empty_things_are_left_out() {
    let (_folder, path) = place("m.nc");
    let mut tree = sample(3);
    let whole = format!("{tree:?}");
    tree.groups[1].dims.push(("none".into(), 0));
    tree.groups[1].vars.push(var("nothing", &["chain", "none"], Data::F64(Vec::new())));
    tree.groups.push(Group { name: "hollow".into(), ..Group::default() });
    tree.write(&path).unwrap();
    assert!(format!("{:?}", Tree::read(&path).unwrap()) == whole);
    Tree::default().write(&path).unwrap();
    assert_eq!(Tree::read(&path).unwrap(), Tree::default());
}

#[test]
fn what_does_not_fit_is_refused() {
    let (folder, path) = place("m.nc");
    type Spoil = fn(&mut Group);
    let spoil: [(&str, Spoil); 7] = [
        ("too long", |g| g.attrs.push(("x".into(), "x".repeat(70_000)))),
        ("NUL", |g| g.attrs.push(("x".into(), "\0".into()))),
        ("NUL", |g| g.vars[2].data = texts(&["a", "b", "\0"])),
        ("slash", |g| g.name = "a/b".into()),
        ("has no dimension `zz`", |g| g.vars[3].dims[1] = "zz".into()),
        ("has 1 values over [2]", |g| g.vars[0].data = Data::I64(vec![1])),
        ("duplicate", |g| g.vars.push(g.vars[3].clone())),
    ];
    for (expected, spoil) in spoil {
        let mut tree = sample(3);
        spoil(&mut tree.groups[1]);
        let error = tree.write(&path).unwrap_err();
        assert!(matches!(error, NcError::Content { .. }), "{error}");
        assert!(error.to_string().contains(expected), "{error}");
    }
    let missing = folder.path().join("no/m.nc");
    assert!(matches!(sample(3).write(&missing), Err(NcError::Write(_))));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn chunks_are_bounded_and_within_the_shape() {
    assert_eq!(chunks(&[4, 1000, 10], 8), [4, 1000, 10]);
    assert_eq!(chunks(&[4, 100_000, 2], 8), [1, 50_000, 2]);
    assert_eq!(chunks(&[3, 5, 1_000_000], 8), [1, 1, 125_000]);
}

#[test]
fn other_files_are_told_apart() {
    let (folder, path) = place("m.nc");
    assert!(message(&path).contains("no such model file"));
    assert!(message(folder.path()).contains("is not a plain file"));
    fs::write(&path, "x,y\n1,2\n").unwrap();
    assert!(message(&path).contains("is not a gpfuse model file (no netCDF-4)"));
    fs::write(&path, "").unwrap();
    assert!(message(&path).contains("is cut off (0 bytes of 8 or more)"));
    let write_in = |group: &str, attrs: &[(&str, &str)], format| {
        let mut file = NcFileBuilder::new();
        for (name, text) in attrs {
            file.add_attribute(*name, NcAttrValue::Chars((*text).into())).unwrap();
        }
        let x = file.add_dimension_path(format!("{group}x"), 3).unwrap();
        let v = file.add_variable_path::<f64>(format!("{group}v"), &[x]).unwrap();
        file.write_variable(v, &[1.0, 2.0, 3.0]).unwrap();
        fs::write(&path, file.to_vec(NcWriteOptions { format }).unwrap().1).unwrap();
        message(&path)
    };
    let write = |attrs: &[(&str, &str)], format| match format {
        NcWriteFormat::Classic => write_in("", attrs, format),
        _ => write_in("g/", attrs, format),
    };
    let newer = write_in("", &[("gpfuse_format", "2")], NcWriteFormat::Nc4);
    assert!(newer.contains("newer gpfuse (format 2"), "{newer}");
    let sum = format!("{:08x}", Tree::default().checksum());
    let empty = [("gpfuse_format", "1"), ("gpfuse_crc32", sum.as_str())];
    let one = |group: &str| write_in(group, &empty, NcWriteFormat::Nc4);
    // Even with a right checksum, which is over the groups of the root.
    assert!(one("").contains("was altered") && one("g/h/").contains("was altered"));
    assert!(write(&[], NcWriteFormat::Nc4).contains("is netCDF or HDF5, but not a gpfuse"));
    assert!(write(&[], NcWriteFormat::Classic).contains("is netCDF or HDF5, but not a gpfuse"));
    let newer = write(&[("gpfuse_format", "2")], NcWriteFormat::Nc4);
    assert!(newer.contains("newer gpfuse (format 2, this one reads 1): update"), "{newer}");
    assert!(write(&[("gpfuse_crc32", "0")], NcWriteFormat::Nc4).contains("was altered"));
    let altered = write(&[("gpfuse_format", "1"), ("gpfuse_crc32", "0")], NcWriteFormat::Nc4);
    assert!(altered.contains("was altered"), "{altered}");
}

#[test]
fn an_hdf5_file_of_unknown_structure_is_foreign() {
    let (_folder, path) = place("m.nc");
    let mut bytes = b"\x89HDF\r\n\x1a\n".to_vec();
    bytes.extend([0; 200]);
    fs::write(&path, bytes).unwrap();
    assert!(message(&path).contains("is netCDF or HDF5, but not a gpfuse"));
}

/// A small generator: the tests need spread, not quality.
fn random(state: &mut u64) -> usize {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) as usize
}

/// A file of a few kilobytes with its seal, as bytes.
fn sealed() -> Vec<u8> {
    let mut tree = sample(7);
    tree.groups[0].vars.pop();
    tree.to_bytes("m.nc").unwrap()
}

fn error(bytes: &[u8]) -> String {
    let text = Tree::from_bytes(bytes.to_vec(), "m.nc").unwrap_err().to_string();
    assert!(text.starts_with("`m.nc`: ") && text.lines().count() == 1, "{text}");
    text
}

#[test]
fn a_cut_is_found_at_every_length() {
    let bytes = sealed();
    for length in 0..bytes.len() {
        assert!(error(&bytes[..length]).contains("is cut off"), "{length}");
    }
    assert!(Tree::from_bytes(bytes, "m.nc").is_ok());
}

/// No byte can differ unseen, in the data, between them, in the seal or behind it.
#[test]
fn damage_is_found_at_every_byte() {
    let bytes = sealed();
    let told = ["was altered", "is cut off", "is not a gpfuse model file"];
    for at in 0..bytes.len() {
        for by in [1, 0x80, 0xff] {
            let mut damaged = bytes.clone();
            damaged[at] ^= by;
            let text = error(&damaged);
            assert!(told.iter().any(|words| text.contains(words)), "byte {at}: {text}");
        }
    }
    for more in [&b"x"[..], &bytes[..], &[0; 4096]] {
        assert!(error(&[&bytes, more].concat()).contains("was altered"));
    }
}

/// The file of 0.1.0 has no seal: damage is met by the reader, or by the checksum of the contents.
#[test]
fn damage_of_an_old_file_is_found_too() {
    let path = "../gpfuse-cli/tests/data/0.1.0/model.nc";
    let bytes = fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap();
    let whole = format!("{:?}", Tree::from_bytes(bytes.clone(), "m.nc").unwrap());
    let (mut state, mut found) = (7, 0);
    for round in 0..600 {
        let mut damaged = bytes.clone();
        // A few scattered bytes, a run of them, or small changes of one.
        match round % 3 {
            0 => (0..3).for_each(|_| {
                let at = random(&mut state) % damaged.len();
                damaged[at] = random(&mut state) as u8;
            }),
            1 => {
                let at = random(&mut state) % (damaged.len() - 16);
                damaged[at..at + 16].fill(if round % 2 == 0 { 0xff } else { 0 });
            }
            _ => {
                let at = random(&mut state) % damaged.len();
                damaged[at] ^= 1 << (random(&mut state) % 8);
            }
        }
        match Tree::from_bytes(damaged.clone(), "m.nc") {
            Ok(back) => assert!(format!("{back:?}") == whole, "round {round}"),
            Err(_) => found += usize::from(!error(&damaged).is_empty()),
        }
    }
    assert!(found > 400, "{found}");
    for length in (0..bytes.len()).step_by(7) {
        assert!(error(&bytes[..length]).contains("is cut off"), "{length}");
    }
}

/// Draws that hardly differ shrink to next to nothing.
#[test]
fn what_packs_well_comes_back() {
    let (_folder, path) = place("m.nc");
    let constant = Group {
        name: "posterior".into(),
        dims: vec![("draw".into(), 400), ("feature".into(), 5000)],
        attrs: Vec::new(),
        vars: vec![var("w", &["draw", "feature"], Data::F64(vec![1.5; 2_000_000]))],
    };
    let tree = Tree { groups: vec![constant] };
    tree.write(&path).unwrap();
    assert!(fs::metadata(&path).unwrap().len() < 100_000);
    assert_eq!(Tree::read(&path).unwrap(), tree);
}

/// A model that the netCDF library of C wrote anew: its groups of many variables keep their names in
/// heaps. The checksum is over the contents, so it says that they are the same.
#[test]
fn a_copy_by_another_library_is_read() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/model_file");
    let read = |name: &str| Tree::from_bytes(fs::read(folder.join(name)).unwrap(), name).unwrap();
    let (original, copy) = (read("bhs.nc"), read("copied-by-netcdf"));
    assert_eq!(copy.checksum(), original.checksum());
    assert!(copy.groups.iter().any(|group| group.vars.len() > 8));
}

/// Values are judged by the shape of their variable, and used by the sizes of its dimensions. Behind a
/// checksum of one's own, nothing else would tell.
#[test]
fn a_variable_is_as_large_as_its_dimensions() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/model_file");
    let read = |name: &str| Tree::unsigned(fs::read(folder.join(name)).unwrap(), name);
    assert!(read("variable-as-its-dimension").is_ok());
    let error = read("variable-unlike-its-dimension").unwrap_err().to_string();
    assert!(error.contains("was altered"), "{error}");
}
