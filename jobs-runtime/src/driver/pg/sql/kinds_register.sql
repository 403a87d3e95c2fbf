-- $1 names, $2 queues, $3 versions, $4 outlines
INSERT INTO {schema}.kinds AS known (name, queue, version, outline)
SELECT DISTINCT ON (k.name) k.name, k.queue, k.version, k.outline::json
FROM unnest($1::text[], $2::text[], $3::int2[], $4::text[]) AS k (name, queue, version, outline)
-- In one order, so that workers which start at once do not deadlock.
ORDER BY k.name
ON CONFLICT (name) DO UPDATE
SET queue = excluded.queue,
    version = excluded.version,
    outline = excluded.outline
-- Unless it is known so already: no worker's start waits for another's then.
WHERE (known.queue, known.version, known.outline::text)
        IS DISTINCT FROM (excluded.queue, excluded.version, excluded.outline::text)
    AND known.version <= excluded.version
