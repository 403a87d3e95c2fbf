-- $1 keys, $2 jobs, $3 holds, $4 periods in seconds
INSERT INTO {schema}.unique_keys (key, job_id, hold, expires_at)
SELECT
    i.key,
    i.job,
    i.hold,
    pg_catalog.clock_timestamp() + i.period * interval '1 second'
FROM unnest($1::bytea[], $2::uuid[], $3::int2[], $4::float8[]) WITH ORDINALITY AS i (key, job, hold, period, place)
-- In one order, as `take_keys` does: batches whose statements take keys in turns would wait for each other.
ORDER BY i.key, i.place
ON CONFLICT (key) DO NOTHING
