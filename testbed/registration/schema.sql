-- One table that grows all test long. The unique index is read and written with every registration.
CREATE TABLE users (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    email text NOT NULL UNIQUE,
    full_name text NOT NULL,
    password text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE EXTENSION pg_stat_statements;

-- For the example of an address that is taken.
INSERT INTO users (email, full_name, password) VALUES ('taken@example.com', 'Already Here', 'not a hash');
