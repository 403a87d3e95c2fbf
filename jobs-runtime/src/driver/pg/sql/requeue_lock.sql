SELECT
    unique_key,
    unique_hold,
    kind
FROM {schema}.dead
WHERE id = $1
FOR UPDATE
