-- The schema that the migrations make, as the catalogs tell it. Written by a test: UPDATE_EXPECT=1.
TABLE dead
    id uuid NOT NULL
    finished_at timestamp with time zone NOT NULL
    created_at timestamp with time zone NOT NULL
    attempt integer NOT NULL
    version smallint NOT NULL
    crashes smallint NOT NULL
    priority smallint NOT NULL
    unique_hold smallint
    kind text COLLATE "C" NOT NULL
    queue text COLLATE "C" NOT NULL
    tenant text COLLATE "C"
    payload json NOT NULL
    overrides json
    metadata json
    progress json
    trace text
    enqueued_by text
    unique_key bytea
    error_code text
    error_text text
    caller_fix text
    stop text
    parent uuid
    stage smallint NOT NULL DEFAULT 0
TABLE events WITH (autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_threshold=5000)
    id uuid NOT NULL
    published_at timestamp with time zone NOT NULL
    expires_at timestamp with time zone NOT NULL
    unseen boolean NOT NULL
    name text COLLATE "C" NOT NULL
    key text COLLATE "C" NOT NULL
    tenant text COLLATE "C"
    payload json NOT NULL
TABLE history
    id uuid NOT NULL
    finished_at timestamp with time zone NOT NULL
    purge_at timestamp with time zone NOT NULL
    created_at timestamp with time zone NOT NULL
    attempt integer NOT NULL
    slot smallint NOT NULL
    state smallint NOT NULL
    version smallint NOT NULL
    crashes smallint NOT NULL
    priority smallint NOT NULL
    kind text COLLATE "C" NOT NULL
    queue text COLLATE "C" NOT NULL
    tenant text COLLATE "C"
    payload json NOT NULL
    output json
    metadata json
    progress json
    trace text
    enqueued_by text
    error_code text
    error_text text
    caller_fix text
    stop text
    parent uuid
    stage smallint NOT NULL DEFAULT 0
    steps json
TABLE history_00
    id uuid NOT NULL
    finished_at timestamp with time zone NOT NULL
    purge_at timestamp with time zone NOT NULL
    created_at timestamp with time zone NOT NULL
    attempt integer NOT NULL
    slot smallint NOT NULL
    state smallint NOT NULL
    version smallint NOT NULL
    crashes smallint NOT NULL
    priority smallint NOT NULL
    kind text COLLATE "C" NOT NULL
    queue text COLLATE "C" NOT NULL
    tenant text COLLATE "C"
    payload json NOT NULL
    output json
    metadata json
    progress json
    trace text
    enqueued_by text
    error_code text
    error_text text
    caller_fix text
    stop text
    parent uuid
    stage smallint NOT NULL DEFAULT 0
    steps json
TABLE history_01
    id uuid NOT NULL
    finished_at timestamp with time zone NOT NULL
    purge_at timestamp with time zone NOT NULL
    created_at timestamp with time zone NOT NULL
    attempt integer NOT NULL
    slot smallint NOT NULL
    state smallint NOT NULL
    version smallint NOT NULL
    crashes smallint NOT NULL
    priority smallint NOT NULL
    kind text COLLATE "C" NOT NULL
    queue text COLLATE "C" NOT NULL
    tenant text COLLATE "C"
    payload json NOT NULL
    output json
    metadata json
    progress json
    trace text
    enqueued_by text
    error_code text
    error_text text
    caller_fix text
    stop text
    parent uuid
    stage smallint NOT NULL DEFAULT 0
    steps json
TABLE history_02
    id uuid NOT NULL
    finished_at timestamp with time zone NOT NULL
    purge_at timestamp with time zone NOT NULL
    created_at timestamp with time zone NOT NULL
    attempt integer NOT NULL
    slot smallint NOT NULL
    state smallint NOT NULL
    version smallint NOT NULL
    crashes smallint NOT NULL
    priority smallint NOT NULL
    kind text COLLATE "C" NOT NULL
    queue text COLLATE "C" NOT NULL
    tenant text COLLATE "C"
    payload json NOT NULL
    output json
    metadata json
    progress json
    trace text
    enqueued_by text
    error_code text
    error_text text
    caller_fix text
    stop text
    parent uuid
    stage smallint NOT NULL DEFAULT 0
    steps json
TABLE history_03
    id uuid NOT NULL
    finished_at timestamp with time zone NOT NULL
    purge_at timestamp with time zone NOT NULL
    created_at timestamp with time zone NOT NULL
    attempt integer NOT NULL
    slot smallint NOT NULL
    state smallint NOT NULL
    version smallint NOT NULL
    crashes smallint NOT NULL
    priority smallint NOT NULL
    kind text COLLATE "C" NOT NULL
    queue text COLLATE "C" NOT NULL
    tenant text COLLATE "C"
    payload json NOT NULL
    output json
    metadata json
    progress json
    trace text
    enqueued_by text
    error_code text
    error_text text
    caller_fix text
    stop text
    parent uuid
    stage smallint NOT NULL DEFAULT 0
    steps json
TABLE history_04
    id uuid NOT NULL
    finished_at timestamp with time zone NOT NULL
    purge_at timestamp with time zone NOT NULL
    created_at timestamp with time zone NOT NULL
    attempt integer NOT NULL
    slot smallint NOT NULL
    state smallint NOT NULL
    version smallint NOT NULL
    crashes smallint NOT NULL
    priority smallint NOT NULL
    kind text COLLATE "C" NOT NULL
    queue text COLLATE "C" NOT NULL
    tenant text COLLATE "C"
    payload json NOT NULL
    output json
    metadata json
    progress json
    trace text
    enqueued_by text
    error_code text
    error_text text
    caller_fix text
    stop text
    parent uuid
    stage smallint NOT NULL DEFAULT 0
    steps json
TABLE history_05
    id uuid NOT NULL
    finished_at timestamp with time zone NOT NULL
    purge_at timestamp with time zone NOT NULL
    created_at timestamp with time zone NOT NULL
    attempt integer NOT NULL
    slot smallint NOT NULL
    state smallint NOT NULL
    version smallint NOT NULL
    crashes smallint NOT NULL
    priority smallint NOT NULL
    kind text COLLATE "C" NOT NULL
    queue text COLLATE "C" NOT NULL
    tenant text COLLATE "C"
    payload json NOT NULL
    output json
    metadata json
    progress json
    trace text
    enqueued_by text
    error_code text
    error_text text
    caller_fix text
    stop text
    parent uuid
    stage smallint NOT NULL DEFAULT 0
    steps json
TABLE history_06
    id uuid NOT NULL
    finished_at timestamp with time zone NOT NULL
    purge_at timestamp with time zone NOT NULL
    created_at timestamp with time zone NOT NULL
    attempt integer NOT NULL
    slot smallint NOT NULL
    state smallint NOT NULL
    version smallint NOT NULL
    crashes smallint NOT NULL
    priority smallint NOT NULL
    kind text COLLATE "C" NOT NULL
    queue text COLLATE "C" NOT NULL
    tenant text COLLATE "C"
    payload json NOT NULL
    output json
    metadata json
    progress json
    trace text
    enqueued_by text
    error_code text
    error_text text
    caller_fix text
    stop text
    parent uuid
    stage smallint NOT NULL DEFAULT 0
    steps json
TABLE history_07
    id uuid NOT NULL
    finished_at timestamp with time zone NOT NULL
    purge_at timestamp with time zone NOT NULL
    created_at timestamp with time zone NOT NULL
    attempt integer NOT NULL
    slot smallint NOT NULL
    state smallint NOT NULL
    version smallint NOT NULL
    crashes smallint NOT NULL
    priority smallint NOT NULL
    kind text COLLATE "C" NOT NULL
    queue text COLLATE "C" NOT NULL
    tenant text COLLATE "C"
    payload json NOT NULL
    output json
    metadata json
    progress json
    trace text
    enqueued_by text
    error_code text
    error_text text
    caller_fix text
    stop text
    parent uuid
    stage smallint NOT NULL DEFAULT 0
    steps json
TABLE history_08
    id uuid NOT NULL
    finished_at timestamp with time zone NOT NULL
    purge_at timestamp with time zone NOT NULL
    created_at timestamp with time zone NOT NULL
    attempt integer NOT NULL
    slot smallint NOT NULL
    state smallint NOT NULL
    version smallint NOT NULL
    crashes smallint NOT NULL
    priority smallint NOT NULL
    kind text COLLATE "C" NOT NULL
    queue text COLLATE "C" NOT NULL
    tenant text COLLATE "C"
    payload json NOT NULL
    output json
    metadata json
    progress json
    trace text
    enqueued_by text
    error_code text
    error_text text
    caller_fix text
    stop text
    parent uuid
    stage smallint NOT NULL DEFAULT 0
    steps json
TABLE history_09
    id uuid NOT NULL
    finished_at timestamp with time zone NOT NULL
    purge_at timestamp with time zone NOT NULL
    created_at timestamp with time zone NOT NULL
    attempt integer NOT NULL
    slot smallint NOT NULL
    state smallint NOT NULL
    version smallint NOT NULL
    crashes smallint NOT NULL
    priority smallint NOT NULL
    kind text COLLATE "C" NOT NULL
    queue text COLLATE "C" NOT NULL
    tenant text COLLATE "C"
    payload json NOT NULL
    output json
    metadata json
    progress json
    trace text
    enqueued_by text
    error_code text
    error_text text
    caller_fix text
    stop text
    parent uuid
    stage smallint NOT NULL DEFAULT 0
    steps json
TABLE history_10
    id uuid NOT NULL
    finished_at timestamp with time zone NOT NULL
    purge_at timestamp with time zone NOT NULL
    created_at timestamp with time zone NOT NULL
    attempt integer NOT NULL
    slot smallint NOT NULL
    state smallint NOT NULL
    version smallint NOT NULL
    crashes smallint NOT NULL
    priority smallint NOT NULL
    kind text COLLATE "C" NOT NULL
    queue text COLLATE "C" NOT NULL
    tenant text COLLATE "C"
    payload json NOT NULL
    output json
    metadata json
    progress json
    trace text
    enqueued_by text
    error_code text
    error_text text
    caller_fix text
    stop text
    parent uuid
    stage smallint NOT NULL DEFAULT 0
    steps json
TABLE history_11
    id uuid NOT NULL
    finished_at timestamp with time zone NOT NULL
    purge_at timestamp with time zone NOT NULL
    created_at timestamp with time zone NOT NULL
    attempt integer NOT NULL
    slot smallint NOT NULL
    state smallint NOT NULL
    version smallint NOT NULL
    crashes smallint NOT NULL
    priority smallint NOT NULL
    kind text COLLATE "C" NOT NULL
    queue text COLLATE "C" NOT NULL
    tenant text COLLATE "C"
    payload json NOT NULL
    output json
    metadata json
    progress json
    trace text
    enqueued_by text
    error_code text
    error_text text
    caller_fix text
    stop text
    parent uuid
    stage smallint NOT NULL DEFAULT 0
    steps json
TABLE history_12
    id uuid NOT NULL
    finished_at timestamp with time zone NOT NULL
    purge_at timestamp with time zone NOT NULL
    created_at timestamp with time zone NOT NULL
    attempt integer NOT NULL
    slot smallint NOT NULL
    state smallint NOT NULL
    version smallint NOT NULL
    crashes smallint NOT NULL
    priority smallint NOT NULL
    kind text COLLATE "C" NOT NULL
    queue text COLLATE "C" NOT NULL
    tenant text COLLATE "C"
    payload json NOT NULL
    output json
    metadata json
    progress json
    trace text
    enqueued_by text
    error_code text
    error_text text
    caller_fix text
    stop text
    parent uuid
    stage smallint NOT NULL DEFAULT 0
    steps json
TABLE history_13
    id uuid NOT NULL
    finished_at timestamp with time zone NOT NULL
    purge_at timestamp with time zone NOT NULL
    created_at timestamp with time zone NOT NULL
    attempt integer NOT NULL
    slot smallint NOT NULL
    state smallint NOT NULL
    version smallint NOT NULL
    crashes smallint NOT NULL
    priority smallint NOT NULL
    kind text COLLATE "C" NOT NULL
    queue text COLLATE "C" NOT NULL
    tenant text COLLATE "C"
    payload json NOT NULL
    output json
    metadata json
    progress json
    trace text
    enqueued_by text
    error_code text
    error_text text
    caller_fix text
    stop text
    parent uuid
    stage smallint NOT NULL DEFAULT 0
    steps json
TABLE history_14
    id uuid NOT NULL
    finished_at timestamp with time zone NOT NULL
    purge_at timestamp with time zone NOT NULL
    created_at timestamp with time zone NOT NULL
    attempt integer NOT NULL
    slot smallint NOT NULL
    state smallint NOT NULL
    version smallint NOT NULL
    crashes smallint NOT NULL
    priority smallint NOT NULL
    kind text COLLATE "C" NOT NULL
    queue text COLLATE "C" NOT NULL
    tenant text COLLATE "C"
    payload json NOT NULL
    output json
    metadata json
    progress json
    trace text
    enqueued_by text
    error_code text
    error_text text
    caller_fix text
    stop text
    parent uuid
    stage smallint NOT NULL DEFAULT 0
    steps json
TABLE history_15
    id uuid NOT NULL
    finished_at timestamp with time zone NOT NULL
    purge_at timestamp with time zone NOT NULL
    created_at timestamp with time zone NOT NULL
    attempt integer NOT NULL
    slot smallint NOT NULL
    state smallint NOT NULL
    version smallint NOT NULL
    crashes smallint NOT NULL
    priority smallint NOT NULL
    kind text COLLATE "C" NOT NULL
    queue text COLLATE "C" NOT NULL
    tenant text COLLATE "C"
    payload json NOT NULL
    output json
    metadata json
    progress json
    trace text
    enqueued_by text
    error_code text
    error_text text
    caller_fix text
    stop text
    parent uuid
    stage smallint NOT NULL DEFAULT 0
    steps json
TABLE history_16
    id uuid NOT NULL
    finished_at timestamp with time zone NOT NULL
    purge_at timestamp with time zone NOT NULL
    created_at timestamp with time zone NOT NULL
    attempt integer NOT NULL
    slot smallint NOT NULL
    state smallint NOT NULL
    version smallint NOT NULL
    crashes smallint NOT NULL
    priority smallint NOT NULL
    kind text COLLATE "C" NOT NULL
    queue text COLLATE "C" NOT NULL
    tenant text COLLATE "C"
    payload json NOT NULL
    output json
    metadata json
    progress json
    trace text
    enqueued_by text
    error_code text
    error_text text
    caller_fix text
    stop text
    parent uuid
    stage smallint NOT NULL DEFAULT 0
    steps json
TABLE history_17
    id uuid NOT NULL
    finished_at timestamp with time zone NOT NULL
    purge_at timestamp with time zone NOT NULL
    created_at timestamp with time zone NOT NULL
    attempt integer NOT NULL
    slot smallint NOT NULL
    state smallint NOT NULL
    version smallint NOT NULL
    crashes smallint NOT NULL
    priority smallint NOT NULL
    kind text COLLATE "C" NOT NULL
    queue text COLLATE "C" NOT NULL
    tenant text COLLATE "C"
    payload json NOT NULL
    output json
    metadata json
    progress json
    trace text
    enqueued_by text
    error_code text
    error_text text
    caller_fix text
    stop text
    parent uuid
    stage smallint NOT NULL DEFAULT 0
    steps json
TABLE history_18
    id uuid NOT NULL
    finished_at timestamp with time zone NOT NULL
    purge_at timestamp with time zone NOT NULL
    created_at timestamp with time zone NOT NULL
    attempt integer NOT NULL
    slot smallint NOT NULL
    state smallint NOT NULL
    version smallint NOT NULL
    crashes smallint NOT NULL
    priority smallint NOT NULL
    kind text COLLATE "C" NOT NULL
    queue text COLLATE "C" NOT NULL
    tenant text COLLATE "C"
    payload json NOT NULL
    output json
    metadata json
    progress json
    trace text
    enqueued_by text
    error_code text
    error_text text
    caller_fix text
    stop text
    parent uuid
    stage smallint NOT NULL DEFAULT 0
    steps json
TABLE history_19
    id uuid NOT NULL
    finished_at timestamp with time zone NOT NULL
    purge_at timestamp with time zone NOT NULL
    created_at timestamp with time zone NOT NULL
    attempt integer NOT NULL
    slot smallint NOT NULL
    state smallint NOT NULL
    version smallint NOT NULL
    crashes smallint NOT NULL
    priority smallint NOT NULL
    kind text COLLATE "C" NOT NULL
    queue text COLLATE "C" NOT NULL
    tenant text COLLATE "C"
    payload json NOT NULL
    output json
    metadata json
    progress json
    trace text
    enqueued_by text
    error_code text
    error_text text
    caller_fix text
    stop text
    parent uuid
    stage smallint NOT NULL DEFAULT 0
    steps json
TABLE history_20
    id uuid NOT NULL
    finished_at timestamp with time zone NOT NULL
    purge_at timestamp with time zone NOT NULL
    created_at timestamp with time zone NOT NULL
    attempt integer NOT NULL
    slot smallint NOT NULL
    state smallint NOT NULL
    version smallint NOT NULL
    crashes smallint NOT NULL
    priority smallint NOT NULL
    kind text COLLATE "C" NOT NULL
    queue text COLLATE "C" NOT NULL
    tenant text COLLATE "C"
    payload json NOT NULL
    output json
    metadata json
    progress json
    trace text
    enqueued_by text
    error_code text
    error_text text
    caller_fix text
    stop text
    parent uuid
    stage smallint NOT NULL DEFAULT 0
    steps json
TABLE history_21
    id uuid NOT NULL
    finished_at timestamp with time zone NOT NULL
    purge_at timestamp with time zone NOT NULL
    created_at timestamp with time zone NOT NULL
    attempt integer NOT NULL
    slot smallint NOT NULL
    state smallint NOT NULL
    version smallint NOT NULL
    crashes smallint NOT NULL
    priority smallint NOT NULL
    kind text COLLATE "C" NOT NULL
    queue text COLLATE "C" NOT NULL
    tenant text COLLATE "C"
    payload json NOT NULL
    output json
    metadata json
    progress json
    trace text
    enqueued_by text
    error_code text
    error_text text
    caller_fix text
    stop text
    parent uuid
    stage smallint NOT NULL DEFAULT 0
    steps json
TABLE history_22
    id uuid NOT NULL
    finished_at timestamp with time zone NOT NULL
    purge_at timestamp with time zone NOT NULL
    created_at timestamp with time zone NOT NULL
    attempt integer NOT NULL
    slot smallint NOT NULL
    state smallint NOT NULL
    version smallint NOT NULL
    crashes smallint NOT NULL
    priority smallint NOT NULL
    kind text COLLATE "C" NOT NULL
    queue text COLLATE "C" NOT NULL
    tenant text COLLATE "C"
    payload json NOT NULL
    output json
    metadata json
    progress json
    trace text
    enqueued_by text
    error_code text
    error_text text
    caller_fix text
    stop text
    parent uuid
    stage smallint NOT NULL DEFAULT 0
    steps json
TABLE history_23
    id uuid NOT NULL
    finished_at timestamp with time zone NOT NULL
    purge_at timestamp with time zone NOT NULL
    created_at timestamp with time zone NOT NULL
    attempt integer NOT NULL
    slot smallint NOT NULL
    state smallint NOT NULL
    version smallint NOT NULL
    crashes smallint NOT NULL
    priority smallint NOT NULL
    kind text COLLATE "C" NOT NULL
    queue text COLLATE "C" NOT NULL
    tenant text COLLATE "C"
    payload json NOT NULL
    output json
    metadata json
    progress json
    trace text
    enqueued_by text
    error_code text
    error_text text
    caller_fix text
    stop text
    parent uuid
    stage smallint NOT NULL DEFAULT 0
    steps json
TABLE history_24
    id uuid NOT NULL
    finished_at timestamp with time zone NOT NULL
    purge_at timestamp with time zone NOT NULL
    created_at timestamp with time zone NOT NULL
    attempt integer NOT NULL
    slot smallint NOT NULL
    state smallint NOT NULL
    version smallint NOT NULL
    crashes smallint NOT NULL
    priority smallint NOT NULL
    kind text COLLATE "C" NOT NULL
    queue text COLLATE "C" NOT NULL
    tenant text COLLATE "C"
    payload json NOT NULL
    output json
    metadata json
    progress json
    trace text
    enqueued_by text
    error_code text
    error_text text
    caller_fix text
    stop text
    parent uuid
    stage smallint NOT NULL DEFAULT 0
    steps json
TABLE history_25
    id uuid NOT NULL
    finished_at timestamp with time zone NOT NULL
    purge_at timestamp with time zone NOT NULL
    created_at timestamp with time zone NOT NULL
    attempt integer NOT NULL
    slot smallint NOT NULL
    state smallint NOT NULL
    version smallint NOT NULL
    crashes smallint NOT NULL
    priority smallint NOT NULL
    kind text COLLATE "C" NOT NULL
    queue text COLLATE "C" NOT NULL
    tenant text COLLATE "C"
    payload json NOT NULL
    output json
    metadata json
    progress json
    trace text
    enqueued_by text
    error_code text
    error_text text
    caller_fix text
    stop text
    parent uuid
    stage smallint NOT NULL DEFAULT 0
    steps json
TABLE history_26
    id uuid NOT NULL
    finished_at timestamp with time zone NOT NULL
    purge_at timestamp with time zone NOT NULL
    created_at timestamp with time zone NOT NULL
    attempt integer NOT NULL
    slot smallint NOT NULL
    state smallint NOT NULL
    version smallint NOT NULL
    crashes smallint NOT NULL
    priority smallint NOT NULL
    kind text COLLATE "C" NOT NULL
    queue text COLLATE "C" NOT NULL
    tenant text COLLATE "C"
    payload json NOT NULL
    output json
    metadata json
    progress json
    trace text
    enqueued_by text
    error_code text
    error_text text
    caller_fix text
    stop text
    parent uuid
    stage smallint NOT NULL DEFAULT 0
    steps json
TABLE history_27
    id uuid NOT NULL
    finished_at timestamp with time zone NOT NULL
    purge_at timestamp with time zone NOT NULL
    created_at timestamp with time zone NOT NULL
    attempt integer NOT NULL
    slot smallint NOT NULL
    state smallint NOT NULL
    version smallint NOT NULL
    crashes smallint NOT NULL
    priority smallint NOT NULL
    kind text COLLATE "C" NOT NULL
    queue text COLLATE "C" NOT NULL
    tenant text COLLATE "C"
    payload json NOT NULL
    output json
    metadata json
    progress json
    trace text
    enqueued_by text
    error_code text
    error_text text
    caller_fix text
    stop text
    parent uuid
    stage smallint NOT NULL DEFAULT 0
    steps json
TABLE history_28
    id uuid NOT NULL
    finished_at timestamp with time zone NOT NULL
    purge_at timestamp with time zone NOT NULL
    created_at timestamp with time zone NOT NULL
    attempt integer NOT NULL
    slot smallint NOT NULL
    state smallint NOT NULL
    version smallint NOT NULL
    crashes smallint NOT NULL
    priority smallint NOT NULL
    kind text COLLATE "C" NOT NULL
    queue text COLLATE "C" NOT NULL
    tenant text COLLATE "C"
    payload json NOT NULL
    output json
    metadata json
    progress json
    trace text
    enqueued_by text
    error_code text
    error_text text
    caller_fix text
    stop text
    parent uuid
    stage smallint NOT NULL DEFAULT 0
    steps json
TABLE history_29
    id uuid NOT NULL
    finished_at timestamp with time zone NOT NULL
    purge_at timestamp with time zone NOT NULL
    created_at timestamp with time zone NOT NULL
    attempt integer NOT NULL
    slot smallint NOT NULL
    state smallint NOT NULL
    version smallint NOT NULL
    crashes smallint NOT NULL
    priority smallint NOT NULL
    kind text COLLATE "C" NOT NULL
    queue text COLLATE "C" NOT NULL
    tenant text COLLATE "C"
    payload json NOT NULL
    output json
    metadata json
    progress json
    trace text
    enqueued_by text
    error_code text
    error_text text
    caller_fix text
    stop text
    parent uuid
    stage smallint NOT NULL DEFAULT 0
    steps json
TABLE history_30
    id uuid NOT NULL
    finished_at timestamp with time zone NOT NULL
    purge_at timestamp with time zone NOT NULL
    created_at timestamp with time zone NOT NULL
    attempt integer NOT NULL
    slot smallint NOT NULL
    state smallint NOT NULL
    version smallint NOT NULL
    crashes smallint NOT NULL
    priority smallint NOT NULL
    kind text COLLATE "C" NOT NULL
    queue text COLLATE "C" NOT NULL
    tenant text COLLATE "C"
    payload json NOT NULL
    output json
    metadata json
    progress json
    trace text
    enqueued_by text
    error_code text
    error_text text
    caller_fix text
    stop text
    parent uuid
    stage smallint NOT NULL DEFAULT 0
    steps json
TABLE history_31
    id uuid NOT NULL
    finished_at timestamp with time zone NOT NULL
    purge_at timestamp with time zone NOT NULL
    created_at timestamp with time zone NOT NULL
    attempt integer NOT NULL
    slot smallint NOT NULL
    state smallint NOT NULL
    version smallint NOT NULL
    crashes smallint NOT NULL
    priority smallint NOT NULL
    kind text COLLATE "C" NOT NULL
    queue text COLLATE "C" NOT NULL
    tenant text COLLATE "C"
    payload json NOT NULL
    output json
    metadata json
    progress json
    trace text
    enqueued_by text
    error_code text
    error_text text
    caller_fix text
    stop text
    parent uuid
    stage smallint NOT NULL DEFAULT 0
    steps json
TABLE history_32
    id uuid NOT NULL
    finished_at timestamp with time zone NOT NULL
    purge_at timestamp with time zone NOT NULL
    created_at timestamp with time zone NOT NULL
    attempt integer NOT NULL
    slot smallint NOT NULL
    state smallint NOT NULL
    version smallint NOT NULL
    crashes smallint NOT NULL
    priority smallint NOT NULL
    kind text COLLATE "C" NOT NULL
    queue text COLLATE "C" NOT NULL
    tenant text COLLATE "C"
    payload json NOT NULL
    output json
    metadata json
    progress json
    trace text
    enqueued_by text
    error_code text
    error_text text
    caller_fix text
    stop text
    parent uuid
    stage smallint NOT NULL DEFAULT 0
    steps json
TABLE history_slots
    slot smallint NOT NULL
    purged_day integer NOT NULL
TABLE kinds
    name text COLLATE "C" NOT NULL
    queue text COLLATE "C" NOT NULL
    version smallint NOT NULL
    outline json
TABLE migrations
    version integer NOT NULL
    name text NOT NULL
    applied_at timestamp with time zone NOT NULL DEFAULT clock_timestamp()
TABLE ready WITH (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=5000, autovacuum_vacuum_cost_delay=0)
    id uuid NOT NULL
    ready_at timestamp with time zone NOT NULL
    created_at timestamp with time zone NOT NULL
    expires_at timestamp with time zone
    attempt integer NOT NULL
    version smallint NOT NULL
    crashes smallint NOT NULL
    priority smallint NOT NULL
    unique_hold smallint
    kind text COLLATE "C" NOT NULL
    queue text COLLATE "C" NOT NULL
    tenant text COLLATE "C"
    payload json NOT NULL
    overrides json
    metadata json
    progress json
    trace text
    enqueued_by text
    unique_key bytea
    error_code text
    error_text text
    caller_fix text
    stop text
    parent uuid
    stage smallint NOT NULL DEFAULT 0
VIEW records
    id uuid
    state smallint
    kind text COLLATE "C"
    version smallint
    queue text COLLATE "C"
    tenant text COLLATE "C"
    priority smallint
    attempt integer
    crashes smallint
    payload json
    output json
    error_code text
    error_text text
    caller_fix text
    stop text
    progress json
    metadata json
    trace text
    enqueued_by text
    created_at timestamp with time zone
    due_at timestamp with time zone
    finished_at timestamp with time zone
    cancel_requested boolean
    stage smallint
    parent uuid
    park_code text
    park_text text
TABLE running WITH (fillfactor=90, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=5000, autovacuum_vacuum_cost_delay=0)
    id uuid NOT NULL
    worker bigint NOT NULL
    token bigint NOT NULL
    claimed_at timestamp with time zone NOT NULL
    ready_at timestamp with time zone NOT NULL
    created_at timestamp with time zone NOT NULL
    expires_at timestamp with time zone
    attempt integer NOT NULL
    version smallint NOT NULL
    crashes smallint NOT NULL
    priority smallint NOT NULL
    unique_hold smallint
    cancel_requested boolean NOT NULL DEFAULT false
    kind text COLLATE "C" NOT NULL
    queue text COLLATE "C" NOT NULL
    tenant text COLLATE "C"
    payload json NOT NULL
    overrides json
    metadata json
    progress json
    trace text
    enqueued_by text
    unique_key bytea
    error_code text
    error_text text
    caller_fix text
    stop text
    parent uuid
    stage smallint NOT NULL DEFAULT 0
    roll_back boolean NOT NULL DEFAULT false
TABLE steps WITH (fillfactor=90, autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_threshold=5000)
    job uuid NOT NULL
    started_at timestamp with time zone NOT NULL
    finished_at timestamp with time zone
    due_at timestamp with time zone
    position integer NOT NULL
    attempt integer NOT NULL
    tries integer NOT NULL
    role smallint NOT NULL
    kind smallint NOT NULL
    status smallint NOT NULL
    once boolean NOT NULL
    event uuid
    child uuid
    name text COLLATE "C" NOT NULL
    key text COLLATE "C" NOT NULL
    output json
    error_code text
    error_text text
    caller_fix text
    stop text
TABLE unique_keys WITH (autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_threshold=5000)
    key bytea NOT NULL
    job_id uuid NOT NULL
    expires_at timestamp with time zone
    hold smallint NOT NULL
TABLE waiting WITH (autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_threshold=5000, autovacuum_vacuum_cost_delay=0)
    id uuid NOT NULL
    due_at timestamp with time zone NOT NULL
    created_at timestamp with time zone NOT NULL
    expires_at timestamp with time zone
    attempt integer NOT NULL
    version smallint NOT NULL
    crashes smallint NOT NULL
    priority smallint NOT NULL
    unique_hold smallint
    kind text COLLATE "C" NOT NULL
    queue text COLLATE "C" NOT NULL
    tenant text COLLATE "C"
    payload json NOT NULL
    overrides json
    metadata json
    progress json
    trace text
    enqueued_by text
    unique_key bytea
    error_code text
    error_text text
    caller_fix text
    stop text
    parent uuid
    stage smallint NOT NULL DEFAULT 0
    suspended boolean NOT NULL DEFAULT false
    park_code text
    park_text text
TABLE waits WITH (autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_threshold=5000)
    job uuid NOT NULL
    child uuid
    recheck boolean NOT NULL
    event text COLLATE "C"
    key text COLLATE "C"
    tenant text COLLATE "C"
    taken uuid[]
TABLE workers WITH (fillfactor=50)
    id bigint NOT NULL
    lease_until timestamp with time zone NOT NULL
    lease interval NOT NULL
    started_at timestamp with time zone NOT NULL
    name text NOT NULL
    queues json NOT NULL
    kinds text[] COLLATE "C" NOT NULL
    versions integer[] NOT NULL
CREATE UNIQUE INDEX dead_pkey ON jobs.dead USING btree (id)
CREATE INDEX events_expires ON jobs.events USING btree (expires_at)
CREATE INDEX events_order ON jobs.events USING btree (name, key, published_at)
CREATE UNIQUE INDEX events_pkey ON jobs.events USING btree (id)
CREATE INDEX events_unseen ON jobs.events USING btree (id) WHERE unseen
CREATE INDEX history_00_id_idx ON jobs.history_00 USING btree (id)
CREATE INDEX history_01_id_idx ON jobs.history_01 USING btree (id)
CREATE INDEX history_02_id_idx ON jobs.history_02 USING btree (id)
CREATE INDEX history_03_id_idx ON jobs.history_03 USING btree (id)
CREATE INDEX history_04_id_idx ON jobs.history_04 USING btree (id)
CREATE INDEX history_05_id_idx ON jobs.history_05 USING btree (id)
CREATE INDEX history_06_id_idx ON jobs.history_06 USING btree (id)
CREATE INDEX history_07_id_idx ON jobs.history_07 USING btree (id)
CREATE INDEX history_08_id_idx ON jobs.history_08 USING btree (id)
CREATE INDEX history_09_id_idx ON jobs.history_09 USING btree (id)
CREATE INDEX history_10_id_idx ON jobs.history_10 USING btree (id)
CREATE INDEX history_11_id_idx ON jobs.history_11 USING btree (id)
CREATE INDEX history_12_id_idx ON jobs.history_12 USING btree (id)
CREATE INDEX history_13_id_idx ON jobs.history_13 USING btree (id)
CREATE INDEX history_14_id_idx ON jobs.history_14 USING btree (id)
CREATE INDEX history_15_id_idx ON jobs.history_15 USING btree (id)
CREATE INDEX history_16_id_idx ON jobs.history_16 USING btree (id)
CREATE INDEX history_17_id_idx ON jobs.history_17 USING btree (id)
CREATE INDEX history_18_id_idx ON jobs.history_18 USING btree (id)
CREATE INDEX history_19_id_idx ON jobs.history_19 USING btree (id)
CREATE INDEX history_20_id_idx ON jobs.history_20 USING btree (id)
CREATE INDEX history_21_id_idx ON jobs.history_21 USING btree (id)
CREATE INDEX history_22_id_idx ON jobs.history_22 USING btree (id)
CREATE INDEX history_23_id_idx ON jobs.history_23 USING btree (id)
CREATE INDEX history_24_id_idx ON jobs.history_24 USING btree (id)
CREATE INDEX history_25_id_idx ON jobs.history_25 USING btree (id)
CREATE INDEX history_26_id_idx ON jobs.history_26 USING btree (id)
CREATE INDEX history_27_id_idx ON jobs.history_27 USING btree (id)
CREATE INDEX history_28_id_idx ON jobs.history_28 USING btree (id)
CREATE INDEX history_29_id_idx ON jobs.history_29 USING btree (id)
CREATE INDEX history_30_id_idx ON jobs.history_30 USING btree (id)
CREATE INDEX history_31_id_idx ON jobs.history_31 USING btree (id)
CREATE INDEX history_32_id_idx ON jobs.history_32 USING btree (id)
CREATE INDEX history_32_purge ON jobs.history_32 USING btree (purge_at)
CREATE INDEX history_id ON ONLY jobs.history USING btree (id)
CREATE UNIQUE INDEX history_slots_pkey ON jobs.history_slots USING btree (slot)
CREATE UNIQUE INDEX kinds_pkey ON jobs.kinds USING btree (name)
CREATE UNIQUE INDEX migrations_pkey ON jobs.migrations USING btree (version)
CREATE INDEX ready_order ON jobs.ready USING btree (queue, priority, ready_at, uuid_send(id))
CREATE UNIQUE INDEX ready_pkey ON jobs.ready USING btree (id)
CREATE INDEX running_asked ON jobs.running USING btree (worker) WHERE (cancel_requested OR roll_back)
CREATE UNIQUE INDEX running_pkey ON jobs.running USING btree (id)
CREATE INDEX steps_child ON jobs.steps USING btree (child) WHERE (child IS NOT NULL)
CREATE UNIQUE INDEX steps_pkey ON jobs.steps USING btree (job, role, name, key)
CREATE INDEX unique_keys_expires ON jobs.unique_keys USING btree (expires_at) WHERE (expires_at IS NOT NULL)
CREATE UNIQUE INDEX unique_keys_pkey ON jobs.unique_keys USING btree (key)
CREATE INDEX waiting_due ON jobs.waiting USING btree (due_at)
CREATE UNIQUE INDEX waiting_pkey ON jobs.waiting USING btree (id)
CREATE INDEX waits_child ON jobs.waits USING btree (child) WHERE (child IS NOT NULL)
CREATE INDEX waits_event ON jobs.waits USING btree (event, key) WHERE (event IS NOT NULL)
CREATE INDEX waits_job ON jobs.waits USING btree (job)
CREATE INDEX waits_recheck ON jobs.waits USING btree (uuid_send(job)) WHERE recheck
CREATE UNIQUE INDEX workers_pkey ON jobs.workers USING btree (id)
SEQUENCE token_blocks MAXVALUE 2147483647
SEQUENCE worker_ids MAXVALUE 9223372036854775807
FUNCTION begin_unwind(run uuid, attempt integer, error_code text, error_text text, caller_fix text, stop text) RETURNS void SET search_path=pg_catalog, pg_temp, enable_seqscan=off, enable_bitmapscan=off, plan_cache_mode=force_generic_plan BODY 05ef28e79565f3c042f575e5122f7d6a
FUNCTION cancel_run(run uuid, undo boolean, keep double precision, undo_code text, undo_text text, undo_stop text) RETURNS smallint SET search_path=pg_catalog, pg_temp, enable_seqscan=off, enable_bitmapscan=off, plan_cache_mode=force_generic_plan BODY 679a82b8bd2e09793abf5f41ab147064
FUNCTION end_run(run uuid, spawner uuid, state smallint, output text, error_code text, error_text text, caller_fix text, stop text) RETURNS json SET search_path=pg_catalog, pg_temp, enable_seqscan=off, enable_bitmapscan=off, plan_cache_mode=force_generic_plan BODY 17ce491e5f61d42d24e923b61064dc2c
FUNCTION enqueue(kind text, payload json, queue text DEFAULT NULL::text, tenant text DEFAULT NULL::text, priority integer DEFAULT 0, delay interval DEFAULT NULL::interval, unique_key text DEFAULT NULL::text, expires_after interval DEFAULT NULL::interval, metadata json DEFAULT NULL::json, enqueued_by text DEFAULT NULL::text) RETURNS uuid SET search_path=pg_catalog, pg_temp BODY 49fe97e25ec9f288acd61283fbaac847
FUNCTION event_bucket(event text, key text) RETURNS integer BODY d41d8cd98f00b204e9800998ecf8427e
FUNCTION history_slot(finished_at timestamp with time zone, purge_at timestamp with time zone) RETURNS smallint BODY d41d8cd98f00b204e9800998ecf8427e
FUNCTION move_parked(runs uuid[], OUT woken integer, OUT queues text[]) RETURNS record SET search_path=pg_catalog, pg_temp, jit=off, enable_seqscan=off, enable_bitmapscan=off, enable_mergejoin=off, enable_hashjoin=on, enable_nestloop=off, plan_cache_mode=force_generic_plan BODY ee810361aad2aead2f0208ae93ddca56
FUNCTION park_runs(holder bigint, runs uuid[], attempts integer[], tokens bigint[], dues timestamp with time zone[], codes text[], texts text[], wait_runs uuid[], wait_events text[], wait_keys text[], wait_taken text[], wait_children uuid[], record_runs uuid[], record_names text[], record_keys text[], record_kinds smallint[], record_statuses smallint[], record_positions integer[], record_tries integer[], record_onces boolean[], record_outputs text[], record_codes text[], record_texts text[], record_fixes text[], record_stops text[], record_dues timestamp with time zone[], record_events uuid[], record_ages double precision[]) RETURNS TABLE(run uuid, parked boolean, unsure boolean) SET search_path=pg_catalog, pg_temp, jit=off, enable_seqscan=off, enable_bitmapscan=off, enable_mergejoin=off, enable_nestloop=off, plan_cache_mode=force_generic_plan BODY 986a8cbe9f89a4e6c966a4ff8901d035
FUNCTION publish(name text, key text, payload json, tenant text DEFAULT NULL::text, ttl interval DEFAULT '7 days'::interval) RETURNS uuid SET search_path=pg_catalog, pg_temp BODY e5ae41815dd47091877944978b1b4d65
FUNCTION publish_events(ids uuid[], names text[], keys text[], tenants text[], payloads text[], ttls double precision[], tell boolean) RETURNS TABLE(event uuid, published timestamp with time zone, expires timestamp with time zone, untold text[]) SET search_path=pg_catalog, pg_temp, jit=off, enable_seqscan=off, enable_bitmapscan=off, enable_mergejoin=off, enable_hashjoin=off, plan_cache_mode=force_generic_plan BODY 975958c4a3d50aacde6efc6357e085c4
FUNCTION refuse(code text, detail text, fix text) RETURNS void SET search_path=pg_catalog, pg_temp BODY bcf95b216eeccdc3e559c6edd1206184
FUNCTION runs_met(runs uuid[]) RETURNS uuid[] SET search_path=pg_catalog, pg_temp, jit=off, enable_seqscan=off, enable_bitmapscan=off, enable_mergejoin=off, enable_hashjoin=off, plan_cache_mode=force_generic_plan BODY fe96c5222117896c5c7c6b10ac73c9cb
FUNCTION state_of(wanted uuid) RETURNS smallint SET search_path=pg_catalog, pg_temp BODY 70480790f32425da557c2f9fc1ec575a
FUNCTION sweep_waits(behind uuid, amount integer, OUT woken integer, OUT last uuid) RETURNS record SET search_path=pg_catalog, pg_temp, jit=off, enable_seqscan=off, enable_bitmapscan=off, enable_mergejoin=off, enable_hashjoin=off, plan_cache_mode=force_generic_plan BODY 2643b088c4980ce739e9f0228f5b87b7
FUNCTION take_keys(keys bytea[], jobs uuid[], holds smallint[], periods double precision[], rejects boolean[]) RETURNS TABLE(ordinal bigint, job uuid, holder uuid, state smallint, rejected boolean) SET search_path=pg_catalog, pg_temp, enable_seqscan=off, enable_bitmapscan=off, enable_hashjoin=off, enable_mergejoin=off BODY 0489b852054fab3e5a2018857cc3cd8e
FUNCTION wake_parents(children uuid[]) RETURNS integer SET search_path=pg_catalog, pg_temp, jit=off, enable_seqscan=off, enable_bitmapscan=off, enable_mergejoin=off, enable_hashjoin=off, plan_cache_mode=force_generic_plan BODY a31258b523af7796487a61aa9a409046
FUNCTION wake_runs(runs uuid[]) RETURNS integer SET search_path=pg_catalog, pg_temp BODY 13fc10801d7288c8e550edb267a7bcf5
