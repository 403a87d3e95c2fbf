-- Hands back what workers hold whose rows the transaction has locked before this statement's snapshot was taken.
-- $1 workers, $2 crashes to add, $3 channel, $4 seconds to keep what ends as cancelled, $5 how many jobs at most
WITH picked AS MATERIALIZED (
    SELECT id
    FROM {schema}.running
    WHERE worker = ANY ($1::int8[])
    LIMIT $5
),
gone AS (
    DELETE FROM {schema}.running
    WHERE id = ANY (ARRAY(SELECT id FROM picked))
        AND worker = ANY ($1::int8[])
    RETURNING *
),
ended AS (
    -- Only once they hold nothing more: their locked rows keep others from claiming for them meanwhile.
    DELETE FROM {schema}.workers
    WHERE id = ANY ($1::int8[])
        AND (SELECT count(*) FROM picked) < $5
    RETURNING id
),
cancelled AS (
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
        statement_timestamp(),
        statement_timestamp() + $4 * interval '1 second',
        created_at,
        attempt,
        {schema}.history_slot(statement_timestamp(), statement_timestamp() + $4 * interval '1 second'),
        7,
        version,
        least(crashes::int4 + $2, 32767),
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
    WHERE cancel_requested
    RETURNING id
),
freed AS (
    DELETE FROM {schema}.unique_keys
    WHERE key = ANY (ARRAY(SELECT unique_key FROM gone WHERE cancel_requested AND unique_hold <= 1))
        AND job_id = ANY (ARRAY(SELECT id FROM gone WHERE cancel_requested AND unique_hold <= 1))
),
again AS (
    INSERT INTO {schema}.ready (
        id,
        ready_at,
        created_at,
        expires_at,
        attempt,
        version,
        crashes,
        priority,
        parent,
        stage,
        unique_hold,
        kind,
        queue,
        tenant,
        payload,
        overrides,
        metadata,
        progress,
        trace,
        enqueued_by,
        unique_key,
        error_code,
        error_text,
        caller_fix,
        stop
    )
    SELECT
        id,
        statement_timestamp(),
        created_at,
        expires_at,
        attempt,
        version,
        least(crashes::int4 + $2, 32767),
        priority,
        parent,
        stage,
        unique_hold,
        kind,
        queue,
        tenant,
        payload,
        overrides,
        metadata,
        progress,
        trace,
        enqueued_by,
        unique_key,
        error_code,
        error_text,
        caller_fix,
        stop
    FROM gone
    WHERE NOT cancel_requested
    RETURNING queue
),
told AS MATERIALIZED (
    SELECT pg_notify($3, 'q' || queue)
    FROM (SELECT DISTINCT queue FROM again) AS queues
)
SELECT
    (SELECT count(*) FROM ended) AS workers,
    (SELECT count(*) FROM again) AS jobs,
    (SELECT count(*) FROM cancelled) AS cancelled,
    (SELECT count(*) FROM told) AS told
