-- {table} is the slot's
SELECT greatest(reltuples, 1)
FROM pg_class
WHERE oid = '{schema}.{table}'::regclass
    AND EXISTS (SELECT FROM {schema}.{table})
