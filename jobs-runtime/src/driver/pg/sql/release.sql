-- Hands back what workers hold whose rows the transaction has locked before this statement's snapshot was taken.
-- $1 workers, $2 crashes to add, $3 channel, $4 seconds to keep what ends as cancelled, $5 how many jobs at most,
-- $6 code, $7 text and $8 stop of what unwinds because it was asked to
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
decided AS (
    SELECT
        *,
        (cancel_requested AND NOT roll_back) OR (roll_back AND stage = 0) AS ends,
        roll_back AND stage = 1 AS unwinds
    FROM gone
),
changed AS MATERIALIZED (
    SELECT
        *,
        CASE WHEN ends AND (stage > 0 OR parent IS NOT NULL)
            THEN {schema}.end_run(id, parent, 7::int2, NULL, error_code, error_text, caller_fix, stop)
        END AS steps,
        CASE WHEN unwinds THEN {schema}.begin_unwind(id, attempt, $6, $7, NULL, $8) END AS begun
    FROM decided
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
        stop,
        steps
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
        stop,
        steps
    FROM changed
    WHERE ends
    RETURNING id
),
freed AS (
    DELETE FROM {schema}.unique_keys
    WHERE key = ANY (ARRAY(SELECT unique_key FROM changed WHERE ends AND unique_hold <= 1))
        AND job_id = ANY (ARRAY(SELECT id FROM changed WHERE ends AND unique_hold <= 1))
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
        CASE WHEN unwinds THEN 0 ELSE least(crashes::int4 + $2, 32767) END,
        priority,
        parent,
        CASE WHEN unwinds THEN 3 ELSE stage END,
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
        CASE WHEN unwinds THEN $6 ELSE error_code END,
        CASE WHEN unwinds THEN $7 ELSE error_text END,
        CASE WHEN NOT unwinds THEN caller_fix END,
        CASE WHEN unwinds THEN $8 ELSE stop END
    FROM changed
    WHERE NOT ends
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
