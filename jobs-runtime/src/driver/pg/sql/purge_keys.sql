DELETE FROM {schema}.unique_keys
WHERE key = ANY (ARRAY(
    SELECT key
    FROM {schema}.unique_keys
    WHERE expires_at <= statement_timestamp()
    ORDER BY expires_at
    LIMIT $1
    FOR UPDATE SKIP LOCKED
))
