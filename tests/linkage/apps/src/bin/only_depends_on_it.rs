//! Depends on the crate without naming it: the compiler never loads it.

fn main() {
    apps::report();
}
