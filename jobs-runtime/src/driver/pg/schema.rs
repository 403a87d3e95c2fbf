//! Fills the schema's name into the statements, once. Upstream: `sql/*.sql`, `migrations/*.sql`. Downstream: the verbs.

use crate::error::{Error, code};
use sqlx::{AssertSqlSafe, SqlSafeStr, SqlStr};

/// The longest schema name, in bytes: the channel's name is made of it.
const MAX_SCHEMA: usize = 50;

/// A checked schema name: letters, digits and `_`, so that it needs no escaping inside quotes of either kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Schema(String);

impl Schema {
    pub(super) fn new(name: &str) -> Result<Self, Error> {
        let plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        let starts_well = name.bytes().next().is_some_and(|byte| !byte.is_ascii_digit());
        if !plain || !starts_well || name.len() > MAX_SCHEMA || name.starts_with("pg_") {
            return Err(Error::new(
                code::STORE_CONFIG_INVALID,
                format!("`{}` is not a schema name", name.escape_debug()),
            )
            .with_fix("use 1 to 50 letters, digits and `_`, neither a digit nor `pg_` first"));
        }
        Ok(Self(name.to_owned()))
    }

    pub(super) fn name(&self) -> &str {
        &self.0
    }

    /// The channel of the hints.
    pub(super) fn channel(&self) -> String {
        format!("jobs:{}", self.0)
    }

    /// A statement of ours with the name filled in.
    pub(super) fn fill(&self, template: &str) -> SqlStr {
        AssertSqlSafe(template.replace("{schema}", &format!("\"{}\"", self.0))).into_sql_str()
    }
}

macro_rules! statements {
    ($($name:ident)*) => {
        /// The statements, ready to be sent.
        #[derive(Debug)]
        pub(super) struct Statements {
            $(pub(super) $name: SqlStr,)*
        }

        impl Statements {
            pub(super) fn new(schema: &Schema) -> Self {
                Self { $($name: schema.fill(include_str!(concat!("sql/", stringify!($name), ".sql"))),)* }
            }
        }
    };
}

statements! {
    cancel claim complete counts enqueue enqueue_unique events find find_event finish held kinds_register lapsed list
    look notify now operate_answer operate_dead operate_forget operate_step operate_suspended operate_undo operate_unfit operate_wake
    outline park progress promote publish purge_due_slots purge_events purge_is_today purge_keys purge_lock_slot
    purge_mark_slot purge_rows record release renew requeue requeue_key requeue_lock requeue_steps requeue_unwound
    reschedule reserve_keys resume resume_undos state step_is_done step_settled steps tell token_block unwind wake
    worker_lock worker_start workers
}
