//! What a body's durable lines promise: each step once, each failure as it was, each wait as long as it takes.

mod calls;
mod check;
mod failing;
mod identity;
mod log;
mod outputs;
mod refused;
mod replay;
mod retry;
mod values;
mod waiting;
