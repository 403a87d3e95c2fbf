-- $1 limit
DELETE FROM {schema}.events
WHERE id = ANY (ARRAY(
    SELECT id
    FROM {schema}.events
    WHERE expires_at <= statement_timestamp()
    ORDER BY expires_at
    LIMIT $1
    FOR UPDATE SKIP LOCKED
))
