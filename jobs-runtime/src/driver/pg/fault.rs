//! Turns sqlx's errors into ours, without connection strings. Upstream: every verb. Downstream: nothing.

use crate::error::{Error, code};
use sqlx::Error as SqlxError;

/// Wraps a failed call: what was being done, and whether trying again later may succeed.
pub(super) fn store(doing: &'static str) -> impl FnOnce(SqlxError) -> Error {
    move |error| {
        let class = classify(&error);
        let cause = cause(&error);
        let detail = match class {
            Class::Unavailable if error.as_database_error().is_none() => {
                format!("the database did not answer while it was to {doing}: {cause}")
            }
            Class::SchemaMissing => {
                format!("the database could not {doing}, since a table or function of this library is missing: {cause}")
            }
            Class::Pooled => format!("a pooler lends server connections for one transaction each; it was to {doing}"),
            Class::Unavailable | Class::Item | Class::Other => format!("the database refused to {doing}: {cause}"),
        };
        let code = match class {
            Class::Unavailable => code::STORE_UNAVAILABLE,
            Class::SchemaMissing => code::SCHEMA_MISSING,
            Class::Pooled => code::STORE_CONFIG_INVALID,
            Class::Item | Class::Other => code::STORE_FAILED,
        };
        let fix = if class == Class::Pooled { Some(POOLED) } else { fix(&error) };
        let failed = Error::new(code, detail).with_source(error);
        match fix {
            Some(fix) => failed.with_fix(fix),
            None => failed,
        }
    }
}

/// The cause in its own words, without what sqlx says before and after them.
fn cause(error: &SqlxError) -> String {
    match error {
        SqlxError::Io(error) => error.to_string(),
        SqlxError::Database(error) => error.message().to_owned(),
        error => error.to_string(),
    }
}

/// What to do about the mistakes that most set-ups begin with.
fn fix(error: &SqlxError) -> Option<&'static str> {
    match sql_state(error)?.as_str() {
        "28P01" | "28000" => Some("correct user and password in the connection settings"),
        "3D000" => Some("create the database, or correct its name in the connection settings"),
        "42501" => Some("grant the role what the guide lists under \"On Postgres\", \"Privileges\""),
        _ => None,
    }
}

/// What to do about a pooler that was not said to be there.
pub(super) const POOLED: &str = "connect to the server itself, or set `Pg::options().transaction_pooler(true)`";

/// Whether the fault lies in the values of one item, so that the rest of a batch may land without it.
pub(super) fn is_of_item(error: &SqlxError) -> bool {
    classify(error) == Class::Item
}

/// Whether the statement lost against a concurrent one and may simply be sent again.
pub(super) fn is_conflict(error: &SqlxError) -> bool {
    matches!(sql_state(error).as_deref(), Some("40001" | "40P01"))
}

/// Whether the connection answered in full and can be used again.
pub(super) fn leaves_connection_well(error: &SqlxError) -> bool {
    match error {
        SqlxError::Database(error) => {
            let state = error.code().unwrap_or_default();
            // Connections; the operator's interventions other than a cancelled statement; and a server that turned
            // read-only, since after a failover another one answers at the same address.
            !(state.starts_with("08") || (state.starts_with("57") && state != "57014") || state == "25006")
        }
        SqlxError::RowNotFound | SqlxError::Encode(_) => true,
        _ => false,
    }
}

/// The SQLSTATE of a server's error.
pub(super) fn sql_state(error: &SqlxError) -> Option<String> {
    error.as_database_error().and_then(|error| error.code()).map(Into::into)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    Unavailable,
    SchemaMissing,
    /// A prepared statement is missing, or another client's is in its place.
    Pooled,
    Item,
    Other,
}

fn classify(error: &SqlxError) -> Class {
    match error {
        SqlxError::Io(_)
        | SqlxError::Tls(_)
        | SqlxError::Protocol(_)
        | SqlxError::PoolTimedOut
        | SqlxError::PoolClosed
        | SqlxError::WorkerCrashed
        | SqlxError::BeginFailed => Class::Unavailable,
        SqlxError::Encode(_) => Class::Item,
        SqlxError::Database(error) => classify_state(error.code().as_deref().unwrap_or_default()),
        _ => Class::Other,
    }
}

/// <https://www.postgresql.org/docs/current/errcodes-appendix.html>
fn classify_state(state: &str) -> Class {
    match state {
        // No table, schema or function of that name.
        "42P01" | "3F000" | "42883" => Class::SchemaMissing,
        "26000" | "42P05" => Class::Pooled,
        // A read-only server, a cancelled statement, a lock timeout, a bad password after a rotation.
        "25006" | "57014" | "55P03" | "28P01" | "28000" => Class::Unavailable,
        _ => match state.get(..2) {
            // Connections, serialization, resources, the operator's interventions, the system's own faults.
            Some("08" | "40" | "53" | "57" | "58") => Class::Unavailable,
            Some("21" | "22" | "23" | "54") => Class::Item,
            _ => Class::Other,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_server_is_unavailable_and_a_bad_text_is_the_items_fault() {
        assert_eq!(classify_state("53300"), Class::Unavailable);
        assert_eq!(classify_state("57P01"), Class::Unavailable);
        assert_eq!(classify_state("22P02"), Class::Item);
        assert_eq!(classify_state("42P01"), Class::SchemaMissing);
        assert_eq!(classify_state("42501"), Class::Other);
    }
}
