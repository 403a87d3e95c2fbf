-- $1 worker, $2 queues, $3 limits, $4 known kinds as {name: newest version}, $5 first token
WITH lease AS MATERIALIZED (
    -- The lock keeps a rescue from removing the worker between this check and the commit of its new rows.
    SELECT id
    FROM {schema}.workers
    WHERE id = $1
        AND lease_until > clock_timestamp()
    FOR KEY SHARE
),
wanted AS MATERIALIZED (
    SELECT w.queue, w.amount
    FROM lease
    CROSS JOIN unnest($2::text[], $3::int4[]) AS w (queue, amount)
),
picked AS MATERIALIZED (
    SELECT next.id
    FROM wanted
    CROSS JOIN LATERAL (
        SELECT r.id
        FROM {schema}.ready AS r
        WHERE r.queue = wanted.queue
            AND r.version <= ($4::jsonb -> r.kind)::int4
        -- As the index has it.
        ORDER BY r.priority, r.ready_at, uuid_send(r.id)
        LIMIT wanted.amount
        FOR UPDATE SKIP LOCKED
    ) AS next
),
moved AS (
    DELETE FROM {schema}.ready
    WHERE id = ANY (ARRAY(SELECT id FROM picked))
    RETURNING *
),
freed AS (
    DELETE FROM {schema}.unique_keys
    WHERE key = ANY (ARRAY(SELECT unique_key FROM moved WHERE unique_hold = 1))
        AND job_id = ANY (ARRAY(SELECT id FROM moved WHERE unique_hold = 1))
),
held AS (
    INSERT INTO {schema}.running (
        id,
        worker,
        token,
        claimed_at,
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
        $1,
        $5 + row_number() OVER (),
        statement_timestamp(),
        ready_at,
        created_at,
        CASE WHEN expires_at <= statement_timestamp() THEN expires_at END,
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
    RETURNING *
)
SELECT
    held.id,
    held.token,
    held.attempt,
    held.kind,
    held.version,
    held.queue,
    held.tenant,
    held.priority,
    held.parent,
    held.stage,
    held.crashes,
    held.payload::text AS payload,
    held.overrides::text AS overrides,
    held.metadata::text AS metadata,
    held.trace,
    held.enqueued_by,
    held.error_code,
    held.error_text,
    held.caller_fix,
    held.stop,
    held.created_at,
    held.ready_at,
    held.claimed_at,
    held.expires_at IS NOT NULL AS expired
FROM lease
LEFT JOIN held ON true
