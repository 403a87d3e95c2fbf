SELECT
    name,
    current_setting(name)
FROM pg_settings
WHERE name IN ('fsync', 'synchronous_commit', 'shared_buffers', 'max_wal_size')
ORDER BY name
