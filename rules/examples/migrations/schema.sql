-- What migrations/wicket.yaml is about: an application, a sandbox, and the role that pgwicket logs in with.
CREATE SCHEMA app;
CREATE TABLE app.users (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, email text NOT NULL UNIQUE, password_hash text NOT NULL, plan text);
CREATE TABLE app.posts (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, author bigint NOT NULL REFERENCES app.users, title text NOT NULL,
    body text, state text NOT NULL DEFAULT 'draft', created timestamptz NOT NULL DEFAULT now());
CREATE TABLE app.schema_migrations (version text PRIMARY KEY, applied timestamptz NOT NULL DEFAULT now());
CREATE VIEW app.published AS SELECT id, author, title FROM app.posts WHERE state = 'published';
INSERT INTO app.users (email, password_hash) VALUES ('ada@example.com', 'x'), ('bo@example.org', 'y');
INSERT INTO app.posts (author, title) SELECT 1 + i % 2, 'Post ' || i FROM generate_series(1, 50) i;

CREATE ROLE wicket_migrations LOGIN; -- give it a password: \password wicket_migrations
CREATE SCHEMA sandbox AUTHORIZATION wicket_migrations;
CREATE TABLE sandbox.tags (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text NOT NULL UNIQUE);
ALTER TABLE sandbox.tags OWNER TO wicket_migrations;
GRANT USAGE, CREATE ON SCHEMA app TO wicket_migrations;
ALTER TABLE app.users OWNER TO wicket_migrations; -- PostgreSQL lets only an owner alter a table
ALTER TABLE app.posts OWNER TO wicket_migrations;
ALTER TABLE app.schema_migrations OWNER TO wicket_migrations;
ALTER VIEW app.published OWNER TO wicket_migrations;
ANALYZE;
