-- $1 ids, $2 kinds, $3 versions, $4 queues, $5 tenants, $6 priorities, $7 start at, $8 start after seconds,
-- $9 payloads, $10 overrides, $11 expire after seconds, $12 metadata, $13 traces, $14 enqueued by,
-- $15 parents, $16 channel, $17 unique keys or NULLs, $18 holds, $19 periods in seconds,
-- $20 whether a conflict fails the batch
WITH taken AS MATERIALIZED (
    SELECT *
    FROM {schema}.take_keys($17::bytea[], $1::uuid[], $18::int2[], $19::float8[], $20::boolean[])
),
input AS (
    SELECT *
    FROM unnest(
        $1::uuid[],
        $2::text[],
        $3::int2[],
        $4::text[],
        $5::text[],
        $6::int2[],
        $7::timestamptz[],
        $8::float8[],
        $9::text[],
        $10::text[],
        $11::float8[],
        $12::text[],
        $13::text[],
        $14::text[],
        $15::uuid[],
        $17::bytea[],
        $18::int2[]
    ) AS i (
        id,
        kind,
        version,
        queue,
        tenant,
        priority,
        start_at,
        start_after,
        payload,
        overrides,
        expires_after,
        metadata,
        trace,
        enqueued_by,
        parent,
        key,
        hold
    )
),
timed AS MATERIALIZED (
    SELECT
        *,
        greatest(
            coalesce(start_at, pg_catalog.statement_timestamp() + start_after * interval '1 second'),
            pg_catalog.statement_timestamp()
        ) AS start
    FROM input
    WHERE NOT EXISTS (SELECT FROM taken WHERE rejected)
        AND id NOT IN (SELECT job FROM taken WHERE holder <> job)
),
claimable AS (
    INSERT INTO {schema}.ready (
        id,
        ready_at,
        created_at,
        expires_at,
        attempt,
        version,
        crashes,
        priority,
        kind,
        queue,
        tenant,
        payload,
        overrides,
        metadata,
        trace,
        enqueued_by,
        parent,
        unique_key,
        unique_hold
    )
    SELECT
        id,
        start,
        pg_catalog.statement_timestamp(),
        start + expires_after * interval '1 second',
        1,
        version,
        0,
        priority,
        kind,
        queue,
        tenant,
        payload::json,
        overrides::json,
        metadata::json,
        trace,
        enqueued_by,
        parent,
        key,
        hold
    FROM timed
    WHERE start <= pg_catalog.statement_timestamp()
    RETURNING queue
),
delayed AS (
    INSERT INTO {schema}.waiting (
        id,
        due_at,
        created_at,
        expires_at,
        attempt,
        version,
        crashes,
        priority,
        kind,
        queue,
        tenant,
        payload,
        overrides,
        metadata,
        trace,
        enqueued_by,
        parent,
        unique_key,
        unique_hold
    )
    SELECT
        id,
        start,
        pg_catalog.statement_timestamp(),
        start + expires_after * interval '1 second',
        1,
        version,
        0,
        priority,
        kind,
        queue,
        tenant,
        payload::json,
        overrides::json,
        metadata::json,
        trace,
        enqueued_by,
        parent,
        key,
        hold
    FROM timed
    WHERE start > pg_catalog.statement_timestamp()
    RETURNING queue
),
told AS MATERIALIZED (
    SELECT pg_catalog.pg_notify($16, 'q' || queue)
    FROM (SELECT DISTINCT queue FROM claimable) AS queues
)
SELECT
    taken.ordinal,
    taken.holder,
    taken.state,
    taken.rejected
FROM (SELECT pg_catalog.count(*) FROM told) AS told
LEFT JOIN taken ON taken.holder <> taken.job
