WITH due AS MATERIALIZED (
    SELECT id
    FROM ready
    WHERE queue = $1
      AND run_at <= now()
    ORDER BY priority, run_at, id
    LIMIT 1
    FOR UPDATE SKIP LOCKED
)
DELETE FROM ready
WHERE id = ANY (ARRAY(SELECT id FROM due))
RETURNING
    id,
    payload::text
