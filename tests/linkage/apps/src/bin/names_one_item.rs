//! Names one item of the crate: its other jobs come along.

fn main() {
    let _ = std::any::type_name::<plugin::send_email>();
    apps::report();
}
