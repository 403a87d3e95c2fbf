DELETE FROM {schema}.history_32
WHERE id = ANY (ARRAY(
    SELECT id
    FROM {schema}.history_32
    WHERE purge_at <= statement_timestamp()
    ORDER BY purge_at
    LIMIT $1
    FOR UPDATE SKIP LOCKED
))
    AND purge_at <= statement_timestamp()
