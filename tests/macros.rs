//! What `#[job]` accepts, and what it makes of it.

mod macros {
    mod declares;
    mod hygiene;
    mod lints;
}
