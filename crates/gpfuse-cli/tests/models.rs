//! Model files that cannot be used, and places that cannot be written.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use std::fs;

use common::{Place, SMALL_FIT, Table, check_refusal};

/// A model file of version 0.1.0.
const OLD: &[u8] = include_bytes!("data/0.1.0/model.nc");

/// Every command that reads a model refuses this one.
fn refused(place: &Place, parts: &[&str]) {
    for args in ["inspect bad.nc", "evaluate bad.nc d.csv", "predict bad.nc d.csv --out p.csv"] {
        place.refused(args, 1, &[&["`bad.nc`"], parts].concat());
    }
}

#[test]
fn missing_foreign_and_cut_off() {
    let place = Place::fitted("");
    place.refused("inspect no.nc", 1, &["`no.nc`", "no such model file", "fit a model first"]);
    place.refused("predict . d.csv", 1, &["`.`", "not a plain file"]);
    place.write("bad.nc", "x,y\n1,2\n");
    refused(&place, &["not a gpfuse model file", "give the file that the fit wrote"]);
    let classic: Vec<u8> = [b"CDF\x01".as_slice(), &[0; 28]].concat();
    place.write("bad.nc", classic);
    refused(&place, &["is netCDF or HDF5, but not a gpfuse model file"]);
    let whole = place.read("d.nc");
    for length in [0, 5, 20, 1000, whole.len() / 2, whole.len() - 1] {
        place.write("bad.nc", &whole[..length]);
        refused(&place, &["is cut off", "copy it again, or fit again"]);
    }
}

#[test]
fn altered_anywhere() {
    let place = Place::fitted("--method het");
    let whole = place.read("d.nc");
    let told = ["was altered", "is cut off", "not a gpfuse model file"];
    for i in 0..40 {
        let mut bytes = whole.clone();
        let at = i * (whole.len() - 1) / 39;
        bytes[at] ^= 0x10;
        place.write("bad.nc", &bytes);
        let run = place.run("inspect bad.nc");
        check_refusal(&format!("byte {at}"), &run, 1, &["`bad.nc`"]);
        assert!(told.iter().any(|part| run.err.contains(part)), "byte {at}: {}", run.err);
    }
}

/// A model that version 0.1.0 wrote predicts what it predicted then.
#[test]
fn a_model_of_0_1_0_is_read() {
    let place = Place::empty();
    place.write("old.nc", OLD);
    place.write("rows.csv", include_bytes!("data/0.1.0/rows.csv"));
    let now = place.done("predict old.nc rows.csv --experts").table();
    let then = Table::parse(include_str!("data/0.1.0/predictions.csv"));
    assert_eq!((&now.names, now.rows.len()), (&then.names, then.rows.len()));
    for (now, then) in now.rows.iter().flatten().zip(then.rows.iter().flatten()) {
        assert!((now - then).abs() <= 1e-10 * (1.0 + then.abs()), "{now}, not {then}");
    }
}

#[test]
fn a_newer_format() {
    let place = Place::new();
    // Without a checksum of its bytes, which would have to be made anew.
    let mut bytes = OLD.to_vec();
    let name = b"gpfuse_format\0";
    let at = bytes.windows(name.len()).position(|part| part == name).unwrap();
    let digit = at + bytes[at..].iter().position(|byte| *byte == b'1').unwrap();
    bytes[digit] = b'2';
    // The root group's header: signature, version, flags, the length of what follows in two
    // bytes, that much, and the checksum of all of it.
    let start = bytes.windows(4).position(|part| part == b"OHDR").unwrap();
    assert_eq!(bytes[start + 5] & 3, 1, "a length of two bytes");
    let length = usize::from(u16::from_le_bytes([bytes[start + 6], bytes[start + 7]]));
    let end = start + 8 + length;
    let sum = lookup3(&bytes[start..end]).to_le_bytes();
    bytes[end..end + 4].copy_from_slice(&sum);
    place.write("bad.nc", &bytes);
    refused(&place, &["newer gpfuse (format 2, this one reads 1)", "update gpfuse"]);
}

/// Bob Jenkins' hash of 2006, which HDF5 uses as a checksum.
fn lookup3(bytes: &[u8]) -> u32 {
    let [mut a, mut b, mut c] = [0xdead_beef_u32.wrapping_add(bytes.len() as u32); 3];
    let mut rest = bytes;
    loop {
        let last = rest.len() <= 12;
        let mut block = [0; 12];
        let taken = rest.len().min(12);
        block[..taken].copy_from_slice(&rest[..taken]);
        rest = &rest[taken..];
        let word = |i: usize| u32::from_le_bytes([0, 1, 2, 3].map(|j| block[4 * i + j]));
        a = a.wrapping_add(word(0));
        b = b.wrapping_add(word(1));
        c = c.wrapping_add(word(2));
        if last {
            for (turn, by) in [14, 11, 25, 16, 4, 14, 24].into_iter().enumerate() {
                let (to, from) = match turn % 3 {
                    0 => (&mut c, b),
                    1 => (&mut a, c),
                    _ => (&mut b, a),
                };
                *to = (*to ^ from).wrapping_sub(from.rotate_left(by));
            }
            return c;
        }
        for (turn, by) in [4, 6, 8, 16, 19, 4].into_iter().enumerate() {
            let (x, y, z) = match turn % 3 {
                0 => (&mut a, &mut c, &mut b),
                1 => (&mut b, &mut a, &mut c),
                _ => (&mut c, &mut b, &mut a),
            };
            *x = x.wrapping_sub(*y) ^ y.rotate_left(by);
            *y = y.wrapping_add(*z);
        }
    }
}

#[test]
fn rows_that_do_not_fit_the_model() {
    let place = Place::fitted("");
    place.write("other.csv", "a,y\n1,2\n");
    place.write("inputs.csv", "x\n1\n");
    place.write("hole.csv", "x\n1\n\"\"\n");
    let parts = ["`other.csv`: no column `x`", "it has `a`, `y`"];
    place.refused("predict d.nc other.csv --out p.csv", 1, &parts);
    place.refused("evaluate d.nc inputs.csv", 1, &["`inputs.csv`: no column `y`"]);
    place.refused("predict d.nc inputs.csv --density", 1, &["`inputs.csv`: no column `y`"]);
    place.refused("predict d.nc hole.csv", 1, &["`hole.csv`", "1 in `x`, the first in row 2"]);
    place.refused("predict d.nc d.csv --quantiles 0.1,1.5", 1, &["`quantiles`: 1.5", "below 1"]);
    place.refused("predict d.nc d.csv --quantiles 0", 1, &["`quantiles`: 0 is out of range"]);
    place.refused("predict d.nc d.csv --quantiles 0.5,0.5", 1, &["0.5 stands twice"]);
    place.refused("predict d.nc d.csv --threads 0", 1, &["`threads`: 0"]);
    place.write("far.csv", "x\n1\n1000\n");
    let run = place.done("predict d.nc far.csv");
    assert_eq!(run.table().rows.len(), 2);
    assert!(run.err.contains("warning: `far.csv`: 1 of 2 rows (first: row 2)"), "{}", run.err);
}

#[test]
fn places_that_cannot_be_written() {
    let place = Place::fitted("");
    fs::create_dir(place.path("folder")).unwrap();
    let (fit, predict) = (format!("fit d.csv --target y {SMALL_FIT}"), "predict d.nc d.csv");
    for command in [fit.as_str(), predict] {
        for (out, part) in [
            ("no/a", "cannot write `no/a`: folder `no` does not exist: create it first"),
            ("folder", "cannot write `folder`: it is a folder: give a file name"),
            ("d.csv", "`d.csv` would be written over: give --out another name"),
            ("d.csv/a", "cannot write `d.csv/a`"),
        ] {
            place.refused(&format!("{command} --out {out}"), 1, &[part]);
        }
    }
    place.refused(&format!("{predict} --out d.nc"), 1, &["`d.nc` would be written over"]);
    place.refused(&format!("{fit} --out -"), 1, &["standard output", "give --out a file name"]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk() {
    let place = Place::fitted("");
    let full = || fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let parts = ["cannot write `/dev/full`: the disk is full", "free some space"];
    place.refused("predict d.nc d.csv --out /dev/full", 1, &parts);
    place.refused(&format!("fit d.csv --target y {SMALL_FIT} --out /dev/full"), 1, &parts);
    for args in ["predict d.nc d.csv", "simulate --n 9 --out -"] {
        let run = place.command(args).stdout(full()).output().unwrap().into();
        check_refusal(args, &run, 1, &["standard output", "the disk is full"]);
    }
    // Warnings that nobody can read do not stop the work.
    let quiet = place.command("evaluate d.nc d.csv --json").stderr(full()).output().unwrap();
    assert_eq!(quiet.status.code(), Some(0));
}
