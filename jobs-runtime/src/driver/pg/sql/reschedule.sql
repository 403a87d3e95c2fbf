-- $1 worker, $2 ids, $3 attempts, $4 tokens, $5 next attempts, $6 seconds to wait, $7 whether the attempt failed,
-- $8 error codes, $9 error texts, $10 caller fixes, $11 stops, $12 seconds to keep if cancelled, or NULL,
-- $13 channel, $14 code, $15 text and $16 stop of what unwinds because it was asked to
WITH asked AS MATERIALIZED (
    SELECT *
    FROM unnest(
        $2::uuid[],
        $5::int4[],
        $6::float8[],
        $7::boolean[],
        $8::text[],
        $9::text[],
        $10::text[],
        $11::text[],
        $12::float8[]
    ) AS a (id, attempt, delay, failed, error_code, error_text, caller_fix, stop, keep)
),
gone AS (
    DELETE FROM {schema}.running
    WHERE id = ANY ($2::uuid[])
        AND attempt = ANY ($3::int4[])
        AND worker = $1
        AND token = ANY ($4::int8[])
        AND EXISTS (
            SELECT FROM {schema}.workers
            WHERE workers.id = $1
                AND lease_until > clock_timestamp()
        )
    RETURNING *
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
        g.id,
        g.ends,
        CASE WHEN g.unwinds THEN 0 ELSE a.delay END AS delay,
        a.keep,
        g.attempt AS ended_attempt,
        g.created_at,
        g.expires_at,
        CASE WHEN g.unwinds THEN g.attempt ELSE a.attempt END AS attempt,
        g.version,
        CASE WHEN g.unwinds THEN 0 ELSE g.crashes END AS crashes,
        g.priority,
        g.parent,
        CASE WHEN g.unwinds THEN 3 ELSE g.stage END AS stage,
        g.unique_hold,
        g.kind,
        g.queue,
        g.tenant,
        g.payload,
        g.overrides,
        g.metadata,
        g.progress,
        g.trace,
        g.enqueued_by,
        g.unique_key,
        CASE WHEN g.unwinds THEN $14 WHEN a.failed THEN a.error_code ELSE g.error_code END AS error_code,
        CASE WHEN g.unwinds THEN $15 WHEN a.failed THEN a.error_text ELSE g.error_text END AS error_text,
        CASE WHEN g.unwinds THEN NULL WHEN a.failed THEN a.caller_fix ELSE g.caller_fix END AS caller_fix,
        CASE WHEN g.unwinds THEN $16 WHEN a.failed THEN a.stop ELSE g.stop END AS stop,
        CASE WHEN g.ends AND (g.stage > 0 OR g.parent IS NOT NULL)
            THEN {schema}.end_run(
                g.id,
                g.parent,
                7::int2,
                NULL,
                CASE WHEN a.failed THEN a.error_code ELSE g.error_code END,
                CASE WHEN a.failed THEN a.error_text ELSE g.error_text END,
                CASE WHEN a.failed THEN a.caller_fix ELSE g.caller_fix END,
                CASE WHEN a.failed THEN a.stop ELSE g.stop END
            )
        END AS steps,
        CASE WHEN g.unwinds THEN {schema}.begin_unwind(g.id, g.attempt, $14, $15, NULL, $16) END AS begun
    FROM decided AS g
    JOIN asked AS a USING (id)
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
        statement_timestamp() + keep * interval '1 second',
        created_at,
        ended_attempt,
        {schema}.history_slot(statement_timestamp(), statement_timestamp() + keep * interval '1 second'),
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
        stop,
        steps
    FROM changed
    WHERE ends
        AND keep IS NOT NULL
),
freed AS (
    DELETE FROM {schema}.unique_keys
    WHERE key = ANY (ARRAY(SELECT unique_key FROM changed WHERE ends AND unique_hold <= 1))
        AND job_id = ANY (ARRAY(SELECT id FROM changed WHERE ends AND unique_hold <= 1))
),
delayed AS (
    INSERT INTO {schema}.waiting (
        id,
        due_at,
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
        statement_timestamp() + delay * interval '1 second',
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
    FROM changed
    WHERE NOT ends
        AND delay > 0
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
    FROM changed
    WHERE NOT ends
        AND delay <= 0
    RETURNING queue
),
told AS MATERIALIZED (
    SELECT pg_notify($13, 'q' || queue)
    FROM (SELECT DISTINCT queue FROM again) AS queues
)
SELECT
    id,
    ends,
    (SELECT count(*) FROM told) AS told
FROM changed
