//! The `bsoap` command.

fn main() {}
