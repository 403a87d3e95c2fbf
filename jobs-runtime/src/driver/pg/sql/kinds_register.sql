-- $1 names, $2 queues, $3 versions
INSERT INTO {schema}.kinds AS known (name, queue, version)
SELECT DISTINCT ON (k.name) k.name, k.queue, k.version
FROM unnest($1::text[], $2::text[], $3::int2[]) AS k (name, queue, version)
-- In one order, so that workers which start at once do not deadlock.
ORDER BY k.name
ON CONFLICT (name) DO UPDATE
SET queue = excluded.queue,
    version = excluded.version
WHERE (known.queue, known.version) IS DISTINCT FROM (excluded.queue, excluded.version)
    AND known.version <= excluded.version
