-- $1 slot, $2 day
UPDATE {schema}.history_slots
SET purged_day = $2
WHERE slot = $1
