CREATE SCHEMA IF NOT EXISTS proctor;
CREATE TABLE layout (version int NOT NULL);
CREATE TABLE runs (
    id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text COLLATE "C" NOT NULL UNIQUE,
    record bytea NOT NULL,
    changed bigint NOT NULL,
    epoch bigint NOT NULL
);
ALTER TABLE runs ADD {sizes};
CREATE TABLE tag_sets (
    id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    digest bytea NOT NULL UNIQUE,
    tags text COLLATE "C" NOT NULL
);
CREATE TABLE scorers (
    id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text COLLATE "C" NOT NULL UNIQUE
);
CREATE TABLE writers (
    id uuid PRIMARY KEY,
    sent bigint NOT NULL,
    since timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE samples (
    sample bigint PRIMARY KEY,
    run int NOT NULL,
    name text COLLATE "C" NOT NULL,
    cluster text COLLATE "C",
    tags int NOT NULL,
    UNIQUE (name, run)
);
CREATE TABLE contents (
    name text COLLATE "C" NOT NULL,
    digest bytea NOT NULL,
    data bytea NOT NULL,
    PRIMARY KEY (name, digest)
);
ALTER TABLE contents ALTER data SET STORAGE EXTERNAL;
CREATE TABLE trials (
    sample bigint NOT NULL,
    attempt int NOT NULL,
    outcome text COLLATE "C" NOT NULL,
    input_tokens bigint NOT NULL,
    output_tokens bigint NOT NULL,
    cached_tokens bigint NOT NULL,
    reasoning_tokens bigint NOT NULL,
    requests bigint NOT NULL,
    cost float8,
    content bytea,
    PRIMARY KEY (sample, attempt)
);
CREATE TABLE scores (
    scorer int NOT NULL,
    sample bigint NOT NULL,
    attempt int NOT NULL,
    tags int NOT NULL,
    cluster text COLLATE "C",
    points float8,
    out_of float8,
    why text COLLATE "C",
    PRIMARY KEY (scorer, sample, attempt) INCLUDE (tags, cluster, points, out_of)
);
CREATE TABLE records (
    sample bigint NOT NULL,
    attempt int NOT NULL,
    number int NOT NULL,
    scorer int NOT NULL,
    at bigint NOT NULL DEFAULT pg_current_xact_id()::text::bigint,
    data bytea NOT NULL,
    PRIMARY KEY (sample, attempt, number)
);
ALTER TABLE records ALTER data SET STORAGE EXTERNAL;
CREATE TABLE annotations (
    run int NOT NULL,
    sample text COLLATE "C" NOT NULL,
    attempt int NOT NULL,
    kind text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    person text COLLATE "C" NOT NULL,
    record bytea NOT NULL,
    PRIMARY KEY (run, sample, attempt, kind, name, person)
);
{shards}
{files}
