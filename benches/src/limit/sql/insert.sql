INSERT INTO ready (id, kind, queue, payload)
VALUES ($1, $2, $3, $4)
