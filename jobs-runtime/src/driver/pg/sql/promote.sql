-- $1 limit, $2 channel
WITH due AS MATERIALIZED (
    SELECT id, due_at
    FROM {schema}.waiting
    -- Not the volatile clock: it cannot be an index condition, and every waiting job would be read.
    WHERE due_at <= statement_timestamp()
    ORDER BY due_at
    LIMIT $1
    FOR UPDATE SKIP LOCKED
),
moved AS (
    DELETE FROM {schema}.waiting
    WHERE id = ANY (ARRAY(SELECT id FROM due))
    RETURNING *
),
over AS (
    DELETE FROM {schema}.waits
    WHERE job = ANY (ARRAY(SELECT id FROM moved WHERE suspended))
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
        -- The order key is the moment of becoming ready; a microsecond apart, so that the order of due times survives.
        statement_timestamp() + (row_number() OVER (ORDER BY due_at, id)) * interval '1 microsecond',
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
    FROM moved
    RETURNING queue
),
told AS MATERIALIZED (
    SELECT pg_notify($2, 'q' || queue)
    FROM (SELECT DISTINCT queue FROM again) AS queues
)
SELECT
    (SELECT count(*) FROM again) AS moved,
    (SELECT count(*) FROM told) AS told,
    (
        SELECT extract(epoch FROM due_at - clock_timestamp())::float8
        FROM {schema}.waiting
        WHERE due_at >= coalesce((SELECT max(due_at) FROM due), '-infinity')
            AND due_at < 'infinity'
            AND id NOT IN (SELECT id FROM due)
        ORDER BY due_at
        LIMIT 1
    ) AS next_due
