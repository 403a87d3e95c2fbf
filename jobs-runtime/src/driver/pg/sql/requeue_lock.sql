SELECT
    unique_key,
    unique_hold,
    kind,
    stage
FROM {schema}.dead
WHERE id = $1
FOR UPDATE
