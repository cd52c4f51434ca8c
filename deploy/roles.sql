-- roles.sql - two database roles for pgwicket to log in with: the second wall behind its policy.
--
--   psql -v ON_ERROR_STOP=1 -d shop -f roles.sql          as the owner of the schema and of the roles
--
-- It is written for a shop (tests/cases/shop.sql). What is to be adapted is marked ADAPT: names, tables,
-- columns. It may be run again; it ends with a check of what it has made.
-- Passwords are set afterwards, so that none is in a file or a log: \password wicket_read
--
-- What PUBLIC has is taken from everybody: other roles that need it must be granted it by name.

\set ON_ERROR_STOP on
BEGIN;

-- 1. The roles: they can log in, and nothing else. ADAPT: names, number of connections (pgwicket opens
--    one for each session of an agent, and one of its own).
SELECT format('CREATE ROLE %I', name) FROM (VALUES ('wicket_read'), ('wicket_write')) AS role(name)
WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = name) \gexec
ALTER ROLE wicket_read LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOINHERIT NOREPLICATION NOBYPASSRLS CONNECTION LIMIT 21;
ALTER ROLE wicket_write LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOINHERIT NOREPLICATION NOBYPASSRLS CONNECTION LIMIT 21;

-- 2. How they start. The role itself can change these, except for temp_file_limit: they are for a login
--    that goes round pgwicket by mistake. pgwicket sets its own, which the agent cannot lengthen.
ALTER ROLE wicket_read SET default_transaction_read_only = on;
ALTER ROLE wicket_read SET statement_timeout = '30s';
ALTER ROLE wicket_read SET lock_timeout = '2s';
ALTER ROLE wicket_read SET idle_in_transaction_session_timeout = '60s';
ALTER ROLE wicket_read SET temp_file_limit = '1GB';
ALTER ROLE wicket_write SET statement_timeout = '30s';
ALTER ROLE wicket_write SET lock_timeout = '2s';
ALTER ROLE wicket_write SET idle_in_transaction_session_timeout = '60s';
ALTER ROLE wicket_write SET temp_file_limit = '1GB';

-- 3. What everybody may do by default, they may not: connect to the database, make temporary tables,
--    make objects in public, call every function, write code, keep large objects.
SELECT format('REVOKE ALL ON DATABASE %I FROM PUBLIC', current_database()) \gexec
SELECT format('GRANT CONNECT ON DATABASE %I TO wicket_read, wicket_write', current_database()) \gexec
REVOKE CREATE ON SCHEMA public FROM PUBLIC;
-- ADAPT: the schemas that have functions; those of extensions (dblink, file_fdw) among them.
REVOKE EXECUTE ON ALL ROUTINES IN SCHEMA shop, public FROM PUBLIC;
ALTER DEFAULT PRIVILEGES REVOKE EXECUTE ON ROUTINES FROM PUBLIC;
-- DO needs a language. ADAPT: GRANT USAGE ON LANGUAGE plpgsql TO those who write functions.
REVOKE USAGE ON LANGUAGE plpgsql FROM PUBLIC;
REVOKE EXECUTE ON FUNCTION pg_catalog.lo_creat(integer), pg_catalog.lo_create(oid),
    pg_catalog.lo_from_bytea(oid, bytea), pg_catalog.lo_put(oid, bigint, bytea), pg_catalog.lo_unlink(oid),
    pg_catalog.lo_open(oid, integer), pg_catalog.lowrite(integer, bytea) FROM PUBLIC;

-- 4. What they may read. ADAPT: tables; and columns, where one of them is not for agents (here: ssn).
GRANT USAGE ON SCHEMA shop TO wicket_read, wicket_write;
GRANT SELECT (id, name, email, country, city, segment, created_at) ON shop.customers TO wicket_read, wicket_write;
GRANT SELECT ON shop.products, shop.orders, shop.order_items TO wicket_read, wicket_write;

-- 5. What the writing one may change. ADAPT. UPDATE by column; no DELETE where rows cascade; no TRUNCATE,
--    REFERENCES or TRIGGER; sequences only where an INSERT draws from them.
GRANT INSERT ON shop.orders, shop.order_items TO wicket_write;
GRANT UPDATE (status, notes) ON shop.orders TO wicket_write;
GRANT DELETE ON shop.order_items TO wicket_write;
GRANT USAGE ON SEQUENCE shop.orders_id_seq, shop.order_items_id_seq TO wicket_write;

-- 6. Was something given to them in another way: by a membership, as owners, by an earlier GRANT?
SELECT EXISTS (SELECT FROM pg_catalog.pg_roles
               WHERE rolname IN ('wicket_read', 'wicket_write')
                 AND (rolsuper OR rolcreatedb OR rolcreaterole OR rolreplication OR rolbypassrls)) AS is_strong,
       EXISTS (SELECT FROM pg_catalog.pg_auth_members
               WHERE member::regrole::text IN ('wicket_read', 'wicket_write')) AS is_member,
       EXISTS (SELECT FROM pg_catalog.pg_shdepend
               WHERE deptype = 'o' AND refclassid = 'pg_catalog.pg_authid'::regclass
                 AND refobjid::regrole::text IN ('wicket_read', 'wicket_write')) AS is_owner,
       EXISTS (SELECT FROM pg_catalog.pg_class, pg_catalog.aclexplode(relacl)
               WHERE grantee::regrole::text = 'wicket_read'
                 AND privilege_type NOT IN ('SELECT')) AS reader_writes
\gset
\if :is_strong
    \warn 'a role has a power that is not for agents'
    ROLLBACK;
    \q
\endif
\if :is_member
    \warn 'a role is a member of another: REVOKE that first, its rights would come with it'
    ROLLBACK;
    \q
\endif
\if :is_owner
    \warn 'a role owns something: an owner may do everything with it. Give it to another role first'
    ROLLBACK;
    \q
\endif
\if :reader_writes
    \warn 'wicket_read has more than SELECT on some table: REVOKE that first'
    ROLLBACK;
    \q
\endif
COMMIT;
