-- $1 state, $2 queue, $3 kind, $4 tenant, $5 before, $6 limit, $7 parked for a reason
SELECT
    id,
    kind,
    version,
    queue,
    tenant,
    state,
    priority,
    attempt,
    crashes,
    payload::text,
    output::text,
    error_code,
    error_text,
    caller_fix,
    stop,
    progress::text,
    metadata::text,
    trace,
    enqueued_by,
    created_at,
    due_at,
    finished_at,
    cancel_requested,
    stage,
    parent,
    park_code,
    park_text
FROM {schema}.records
WHERE ($1::int2 IS NULL OR state = $1)
    AND ($2::text IS NULL OR queue = $2)
    AND ($3::text IS NULL OR kind = $3)
    AND ($4::text IS NULL OR tenant = $4)
    AND ($5::uuid IS NULL OR id < $5)
    AND ($7::bool IS NULL OR (park_code IS NOT NULL) = $7)
ORDER BY id DESC
LIMIT $6
