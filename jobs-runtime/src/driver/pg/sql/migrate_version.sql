SELECT coalesce(pg_catalog.max(version), 0)
FROM {schema}.migrations
