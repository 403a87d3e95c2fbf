//! Names the crate of its jobs, and nothing in it.

use plugin as _;

fn main() {
    apps::report();
}
