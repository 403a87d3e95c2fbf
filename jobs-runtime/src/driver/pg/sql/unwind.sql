-- $1 worker, $2 ids, $3 attempts, $4 tokens, $5 error codes, $6 error texts, $7 caller fixes, $8 stops
WITH turned AS (
    UPDATE {schema}.running
    SET stage = 3,
        crashes = 0,
        cancel_requested = false,
        roll_back = false,
        error_code = ($5::text[])[array_position($2::uuid[], id)],
        error_text = ($6::text[])[array_position($2::uuid[], id)],
        caller_fix = ($7::text[])[array_position($2::uuid[], id)],
        stop = ($8::text[])[array_position($2::uuid[], id)]
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
recorded AS MATERIALIZED (
    SELECT
        id,
        {schema}.begin_unwind(id, attempt, error_code, error_text, caller_fix, stop)
    FROM turned
)
SELECT id FROM recorded
