-- $1 worker, $2 ids, $3 attempts, $4 tokens, $5 progress
UPDATE {schema}.running
SET progress = ($5::text[])[array_position($2::uuid[], id)]::json
WHERE id = ANY ($2::uuid[])
    AND attempt = ANY ($3::int4[])
    AND worker = $1
    AND token = ANY ($4::int8[])
    AND EXISTS (
        SELECT FROM {schema}.workers
        WHERE workers.id = $1
            AND lease_until > clock_timestamp()
    )
RETURNING id
