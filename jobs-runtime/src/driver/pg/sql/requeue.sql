-- $1 job, $2 channel
WITH gone AS (
    DELETE FROM {schema}.dead
    WHERE id = $1
    RETURNING *
),
again AS (
    INSERT INTO {schema}.ready (
        id,
        ready_at,
        created_at,
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
        pg_catalog.statement_timestamp(),
        created_at,
        1,
        version,
        0,
        priority,
        parent,
        CASE WHEN stage = 3 THEN 1 ELSE stage END,
        unique_hold,
        kind,
        queue,
        tenant,
        payload,
        overrides,
        metadata,
        trace,
        enqueued_by,
        unique_key,
        error_code,
        error_text,
        caller_fix,
        stop
    FROM gone
    RETURNING queue
)
SELECT pg_catalog.pg_notify($2, 'q' || queue)
FROM again
