WITH due AS MATERIALIZED (
    SELECT id
    FROM ready
    WHERE queue = $1
      AND priority = 0
      AND (run_at, id) > ($4, '00000000-0000-0000-0000-000000000000'::uuid)
      AND run_at <= now()
    ORDER BY run_at, id
    LIMIT $2
    FOR UPDATE SKIP LOCKED
),
taken AS (
    DELETE FROM ready
    WHERE id = ANY (ARRAY(SELECT id FROM due))
    RETURNING *
)
INSERT INTO running (id, kind, queue, priority, run_at, attempt, token, payload, created_at)
SELECT
    id,
    kind,
    queue,
    priority,
    run_at,
    attempt,
    $3,
    payload,
    created_at
FROM taken
RETURNING
    id,
    attempt,
    token,
    kind,
    payload::text,
    run_at
