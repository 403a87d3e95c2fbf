-- $1 channel, $2 queues
SELECT pg_catalog.pg_notify($1, 'q' || queue)
FROM pg_catalog.unnest($2::text[]) AS told (queue)
