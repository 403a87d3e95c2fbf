DELETE FROM {schema}.{slot}
WHERE ctid = ANY (ARRAY(
    SELECT ctid
    FROM {schema}.{slot}
    WHERE purge_at <= statement_timestamp()
    LIMIT $1
    FOR UPDATE SKIP LOCKED
))
