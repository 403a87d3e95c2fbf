//! Names two crates that have a job of one name.

use plugin as _;
use rival as _;

fn main() {
    apps::report();
}
