//! The program `gpfuse`.
fn main() {}
