//! Timelines of real runs.
