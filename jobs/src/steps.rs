//! The macros of a job's body. Each passes its crate on, so that it works under whatever name the crate has.
//! Upstream: users. Downstream: `jobs-macros`.

/// Runs a body once and keeps what it gave.
#[macro_export]
macro_rules! step {
    ($($tokens:tt)*) => { $crate::__macros::step! { $crate; $($tokens)* } };
}

/// Runs a body in a transaction that also writes the step's record.
#[macro_export]
macro_rules! step_tx {
    ($($tokens:tt)*) => { $crate::__macros::step_tx! { $crate; $($tokens)* } };
}

/// Says how a step is undone.
#[macro_export]
macro_rules! compensate {
    ($($tokens:tt)*) => { $crate::__macros::compensate! { $crate; $($tokens)* } };
}

/// Waits for some time.
#[macro_export]
macro_rules! sleep {
    ($($tokens:tt)*) => { $crate::__macros::sleep! { $crate; $($tokens)* } };
}

/// Waits up to some time.
#[macro_export]
macro_rules! sleep_until {
    ($($tokens:tt)*) => { $crate::__macros::sleep_until! { $crate; $($tokens)* } };
}

/// Waits for an event.
#[macro_export]
macro_rules! wait_for {
    ($($tokens:tt)*) => { $crate::__macros::wait_for! { $crate; $($tokens)* } };
}

/// Takes the first of several futures.
#[macro_export]
macro_rules! race {
    ($($tokens:tt)*) => { $crate::__macros::race! { $crate; $($tokens)* } };
}

/// Enqueues a child job.
#[macro_export]
macro_rules! spawn {
    ($($tokens:tt)*) => { $crate::__macros::spawn! { $crate; $($tokens)* } };
}

/// Tells a run that began before a change from one that begins after it.
#[macro_export]
macro_rules! patch {
    ($($tokens:tt)*) => { $crate::__macros::patch! { $crate; $($tokens)* } };
}

/// Marks the point of no return.
#[macro_export]
macro_rules! pivot {
    ($($tokens:tt)*) => { $crate::__macros::pivot! { $crate; $($tokens)* } };
}
