-- What dba/wicket.yaml is about: an application's tables, and the role that pgwicket logs in with.
CREATE SCHEMA app;
CREATE TABLE app.accounts (id bigint PRIMARY KEY, holder text NOT NULL, balance numeric(14,2) NOT NULL);
CREATE TABLE app.bookings (id bigint PRIMARY KEY, account bigint NOT NULL REFERENCES app.accounts, at timestamptz NOT NULL, amount numeric(14,2) NOT NULL);
CREATE INDEX bookings_account ON app.bookings (account);
INSERT INTO app.accounts SELECT i, 'holder ' || i, 0 FROM generate_series(1, 100) i;
INSERT INTO app.bookings SELECT i, 1 + i % 100, now(), i FROM generate_series(1, 1000) i;

CREATE ROLE wicket_dba LOGIN; -- give it a password: \password wicket_dba
GRANT pg_monitor, pg_signal_backend TO wicket_dba;
GRANT USAGE, CREATE ON SCHEMA app TO wicket_dba;
ALTER TABLE app.accounts OWNER TO wicket_dba; -- PostgreSQL 15 lets only an owner vacuum and index
ALTER TABLE app.bookings OWNER TO wicket_dba;
REVOKE SELECT, INSERT, UPDATE, DELETE, TRUNCATE ON app.accounts, app.bookings FROM wicket_dba;
ANALYZE;
