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
    assert!(message(&path).contains("is cut off (0 of"));
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
    let one = |group: &str| write_in(group, &[("gpfuse_format", "1")], NcWriteFormat::Nc4);
    assert!(one("").contains("a variable is in no group"));
    assert!(one("g/h/").contains("a group is in another"));
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

#[test]
fn one_altered_value_is_found() {
    let (_folder, path) = place("m.nc");
    sample(7).write(&path).unwrap();
    let mut bytes = fs::read(&path).unwrap();
    let needle = (0.37f64).sin().to_le_bytes();
    let at = bytes.windows(8).position(|window| window == needle).unwrap();
    bytes[at + 3] ^= 1;
    fs::write(&path, bytes).unwrap();
    assert!(message(&path).contains("was altered after gpfuse wrote it"));
}

/// A small generator: the tests need spread, not quality.
fn random(state: &mut u64) -> usize {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) as usize
}

#[test]
fn truncation_is_found_at_every_length() {
    let (_folder, path) = place("m.nc");
    let mut tree = sample(700);
    tree.groups[0].vars.pop();
    tree.write(&path).unwrap();
    let bytes = fs::read(&path).unwrap();
    for length in (0..100).chain((100..bytes.len()).step_by(97)).chain([bytes.len() - 1]) {
        fs::write(&path, &bytes[..length]).unwrap();
        assert!(message(&path).contains("is cut off"), "{length}");
    }
}

#[test]
fn random_damage_never_panics_nor_passes_unseen() {
    let (_folder, path) = place("m.nc");
    let mut tree = sample(700);
    tree.groups[0].vars.pop();
    tree.write(&path).unwrap();
    let (bytes, whole) = (fs::read(&path).unwrap(), format!("{tree:?}"));
    let mut state = 7;
    let mut found = 0;
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
        fs::write(&path, &damaged).unwrap();
        match Tree::read(&path) {
            Ok(back) => assert!(format!("{back:?}") == whole, "round {round}"),
            Err(error) => {
                found += 1;
                assert_eq!(error.to_string().lines().count(), 1, "{error}");
            }
        }
    }
    assert!(found > 400, "{found}");
}

/// Numbers that hardly differ shrink to nothing; a file that says so is not believed, and none is
/// written.
#[test]
fn what_unpacks_to_more_than_the_file_can_hold_is_refused() {
    let (_folder, path) = place("m.nc");
    let values = vec![1.5; 200_000];
    let constant = Group {
        name: "posterior".into(),
        dims: vec![("draw".into(), 400), ("feature".into(), 500)],
        attrs: Vec::new(),
        vars: vec![var("w", &["draw", "feature"], Data::F64(values.clone()))],
    };
    let tree = Tree { groups: vec![constant] };
    tree.write(&path).unwrap();
    assert!(fs::metadata(&path).unwrap().len() >= 8 * 200_000);
    assert_eq!(Tree::read(&path).unwrap(), tree);
    let mut file = NcFileBuilder::new();
    for (name, text) in [("gpfuse_format", "1"), ("gpfuse_crc32", "0")] {
        file.add_attribute(name, NcAttrValue::Chars(text.into())).unwrap();
    }
    let draw = file.add_dimension_path("posterior/draw", 400).unwrap();
    let feature = file.add_dimension_path("posterior/feature", 500).unwrap();
    let w = file.add_variable_path::<f64>("posterior/w", &[draw, feature]).unwrap();
    file.set_variable_chunking(w, vec![200, 500]).unwrap();
    file.set_variable_deflate(w, Some(4), true).unwrap();
    file.write_variable(w, &values).unwrap();
    let bytes = file.to_vec(NcWriteOptions { format: NcWriteFormat::Nc4 }).unwrap().1;
    fs::write(&path, bytes).unwrap();
    let text = message(&path);
    assert!(text.contains("claims 200000 values, more than the file can hold"), "{text}");
}

/// Inputs of the fuzzing corpus whose reading would take many times their bytes, and one with its
/// text in a heap, as other libraries write it.
#[test]
fn what_claims_more_than_it_holds_is_refused() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/model_file");
    for (name, problem) in [
        ("addresses-of-4-bytes", "its addresses do not have 8 bytes"),
        ("attribute-of-nested-compounds", "neither a number nor a text"),
        ("attribute-of-one-text-many-times", "more than one text"),
        ("attributes-that-share-a-text", "a text that is another's"),
        ("endless-dimensions", "a dimension has no end"),
        ("external-file-slots", "in another file"),
        ("filters-without-a-bound", "packed in a way that netCDF does not know"),
        ("header-of-empty-messages", "no room for its messages"),
        ("heaps-within-heaps", "was altered"),
        ("names-that-share-a-text", "two objects have one name"),
        ("short-texts", "neither numbers nor texts as netCDF keeps them"),
        ("text-attribute-in-a-heap", "newer gpfuse (format 2"),
        ("type-of-nested-compounds", "neither a number nor a text"),
        ("variable-of-many-names", "an object has two names"),
        ("variables-larger-than-their-dimensions", "22000 values, more than the file can hold"),
    ] {
        let error = Tree::from_bytes(fs::read(folder.join(name)).unwrap(), name).unwrap_err();
        assert!(error.to_string().contains(problem), "{name}: {error}");
    }
}

/// A model that the netCDF library of C wrote anew: its groups of many variables keep their names in
/// heaps. The checksum is over the contents, so it says that they are the same.
#[test]
fn a_copy_by_another_library_is_read() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/model_file");
    let read = |name: &str| Tree::from_bytes(fs::read(folder.join(name)).unwrap(), name).unwrap();
    let (own, copy) = (read("bhs.nc"), read("copied-by-netcdf"));
    assert_eq!(copy.checksum(), own.checksum());
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
