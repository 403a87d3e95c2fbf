-- The outline of each kind's body: the names of its steps, so that a process without the job's code can show a run.
-- `{schema}` stands for the quoted name of the schema.

ALTER TABLE {schema}.kinds ADD COLUMN outline json;
