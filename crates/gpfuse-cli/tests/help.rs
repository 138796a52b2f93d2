//! x
#[test]
fn a() {}
