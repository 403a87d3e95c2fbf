INSERT INTO ready (id, kind, queue, payload)
SELECT
    id,
    $2,
    $3,
    $4
FROM unnest($1::uuid[]) AS id
