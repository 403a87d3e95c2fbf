WITH inserted AS (
    INSERT INTO ready (id, kind, queue, payload)
    VALUES ($1, $2, $3, $4)
)
SELECT pg_notify('ready', $3)
