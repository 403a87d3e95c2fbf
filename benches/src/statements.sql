SELECT coalesce(sum(calls), 0)::float8
FROM pg_stat_statements
JOIN pg_database ON pg_database.oid = dbid
WHERE datname = $1
