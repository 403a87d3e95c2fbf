-- The fast path: jobs that completed without an output and are kept equally long.
-- $1 worker, $2 ids, $3 attempts, $4 tokens, $5 seconds to keep, or NULL to keep nothing
WITH gone AS (
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
    RETURNING
        *,
        CASE WHEN stage > 0 OR parent IS NOT NULL
            THEN {schema}.end_run(id, parent, 4::int2, NULL, NULL, NULL, NULL, NULL)
        END AS steps
),
freed AS (
    DELETE FROM {schema}.unique_keys
    WHERE key = ANY (ARRAY(SELECT unique_key FROM gone WHERE unique_hold <= 1))
        AND job_id = ANY (ARRAY(SELECT id FROM gone WHERE unique_hold <= 1))
),
kept AS (
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
        steps
    )
    SELECT
        id,
        statement_timestamp(),
        statement_timestamp() + $5 * interval '1 second',
        created_at,
        attempt,
        {schema}.history_slot(statement_timestamp(), statement_timestamp() + $5 * interval '1 second'),
        4,
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
        steps
    FROM gone
    WHERE $5::float8 IS NOT NULL
)
SELECT id FROM gone
