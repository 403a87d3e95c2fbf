//! Lets time pass for a database.

use sqlx::{AssertSqlSafe, PgPool};
use std::time::Duration;

/// Shifts every stored time into the past, and with them the days on which jobs leave the history.
pub(crate) async fn shift(pool: &PgPool, by: Duration) {
    let seconds = by.as_secs_f64();
    let days = (seconds / 86_400.0).ceil();
    let script = format!(
        "DO $$
        DECLARE
            tab text;
            sets text;
        BEGIN
            FOR tab, sets IN
                SELECT c.relname, string_agg(format('%1$I = %1$I - interval ''{seconds} seconds''', a.attname), ', ')
                FROM pg_class AS c
                JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
                WHERE c.relnamespace = 'jobs'::regnamespace
                    AND c.relkind IN ('r', 'p')
                    AND NOT c.relispartition
                    AND a.atttypid = 'timestamptz'::regtype
                GROUP BY c.relname
            LOOP
                EXECUTE format('UPDATE jobs.%I SET %s', tab, sets);
            END LOOP;
            UPDATE jobs.history SET slot = jobs.history_slot(finished_at, purge_at);
            UPDATE jobs.history_slots SET purged_day = purged_day - {days};
        END
        $$"
    );
    sqlx::raw_sql(AssertSqlSafe(script)).execute(pool).await.expect("the stored times are shifted");
}
