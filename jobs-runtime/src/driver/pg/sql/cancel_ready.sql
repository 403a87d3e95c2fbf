-- $1 job, $2 seconds to keep
WITH gone AS (
    DELETE FROM {schema}.ready
    WHERE id = $1
    RETURNING *
),
freed AS (
    DELETE FROM {schema}.unique_keys
    WHERE key = ANY (ARRAY(SELECT unique_key FROM gone WHERE unique_hold <= 1))
        AND job_id = $1
)
INSERT INTO {schema}.history (
    id,
    finished_at,
    purge_at,
    created_at,
    attempt,
    slot,
    state,
    version,
    crashes,
    priority,
    parent,
    stage,
    kind,
    queue,
    tenant,
    payload,
    metadata,
    progress,
    trace,
    enqueued_by,
    error_code,
    error_text,
    caller_fix,
    stop
)
SELECT
    id,
    pg_catalog.statement_timestamp(),
    pg_catalog.statement_timestamp() + $2 * interval '1 second',
    created_at,
    attempt,
    {schema}.history_slot(
        pg_catalog.statement_timestamp(),
        pg_catalog.statement_timestamp() + $2 * interval '1 second'
    ),
    7,
    version,
    crashes,
    priority,
    parent,
    stage,
    kind,
    queue,
    tenant,
    payload,
    metadata,
    progress,
    trace,
    enqueued_by,
    error_code,
    error_text,
    caller_fix,
    stop
FROM gone
