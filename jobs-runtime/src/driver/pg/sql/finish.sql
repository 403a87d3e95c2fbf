-- $1 worker, $2 ids, $3 attempts, $4 tokens, $5 states, $6 outputs, $7 error codes, $8 error texts, $9 caller fixes,
-- $10 stops, $11 seconds to keep, or NULL to keep nothing
WITH asked AS MATERIALIZED (
    SELECT *
    FROM unnest($2::uuid[], $5::int2[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[], $11::float8[])
        AS a (id, state, output, end_code, end_text, end_fix, end_stop, keep)
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
freed AS (
    DELETE FROM {schema}.unique_keys
    WHERE key = ANY (ARRAY(SELECT unique_key FROM gone WHERE unique_hold <= 1))
        AND job_id = ANY (ARRAY(SELECT id FROM gone WHERE unique_hold <= 1))
),
ended AS MATERIALIZED (
    SELECT
        g.*,
        a.state,
        a.output,
        a.end_code,
        a.end_text,
        a.end_fix,
        a.end_stop,
        a.keep,
        CASE WHEN g.stage > 0 OR g.parent IS NOT NULL
            THEN {schema}.end_run(g.id, g.parent, a.state, a.output, a.end_code, a.end_text, a.end_fix, a.end_stop)
        END AS steps
    FROM gone AS g
    JOIN asked AS a USING (id)
),
buried AS (
    INSERT INTO {schema}.dead (
        id,
        finished_at,
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
        end_code,
        end_text,
        end_fix,
        end_stop
    FROM ended
    WHERE state = 5
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
        output,
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
        attempt,
        {schema}.history_slot(statement_timestamp(), statement_timestamp() + keep * interval '1 second'),
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
        output::json,
        metadata,
        progress,
        trace,
        enqueued_by,
        end_code,
        end_text,
        end_fix,
        end_stop,
        steps
    FROM ended
    WHERE state <> 5
        AND keep IS NOT NULL
)
SELECT id FROM gone
