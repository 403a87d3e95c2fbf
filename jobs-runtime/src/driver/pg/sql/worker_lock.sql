SELECT id
FROM {schema}.workers
WHERE id = $1
FOR UPDATE
