//! What the passes make of tokens, without a compiler.

mod expansion;
mod outline;
mod steps;
mod typing;
