-- The system of record: what Cassandra, Neo4j and Elasticsearch hold in the original. services/data/seed.mjs fills it.
CREATE EXTENSION IF NOT EXISTS pg_stat_statements;

CREATE TABLE content (id text PRIMARY KEY, body jsonb NOT NULL);

-- A collection's tree is put together from its rows; that is what the cache saves.
CREATE TABLE hierarchy (
    parent text NOT NULL,
    position int NOT NULL,
    child text NOT NULL,
    PRIMARY KEY (parent, position)
);

-- The search index: one narrow row per content, so that a scan by date does not drag 3 KB of body along. Facets are
-- lexemes such as `contentType:Resource`, words of title and description are lexemes as they are.
CREATE TABLE search_entry (
    id text PRIMARY KEY,
    updated timestamptz NOT NULL,
    terms tsvector NOT NULL,
    summary jsonb NOT NULL
);
CREATE INDEX search_entry_terms ON search_entry USING gin (terms);
CREATE INDEX search_entry_updated ON search_entry (updated DESC);

-- What the page of one DIAL code shows, section by section.
CREATE TABLE page_item (
    dialcode text NOT NULL,
    section int NOT NULL,
    position int NOT NULL,
    content_id text NOT NULL,
    PRIMARY KEY (dialcode, section, position)
);

CREATE TABLE framework (id text PRIMARY KEY, body jsonb NOT NULL);
CREATE TABLE channel (id text PRIMARY KEY, body jsonb NOT NULL);
CREATE TABLE tenant (slug text PRIMARY KEY, body jsonb NOT NULL);
CREATE TABLE org (id text PRIMARY KEY, slug text NOT NULL, is_root boolean NOT NULL, body jsonb NOT NULL);
CREATE INDEX org_slug ON org (slug);
CREATE TABLE form (
    type text NOT NULL,
    subtype text NOT NULL,
    action text NOT NULL,
    body jsonb NOT NULL,
    PRIMARY KEY (type, subtype, action)
);
CREATE TABLE device (
    id text PRIMARY KEY,
    first_access timestamptz NOT NULL,
    last_access timestamptz NOT NULL,
    profile jsonb NOT NULL
);
