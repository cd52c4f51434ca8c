-- What ci/wicket.yaml is about: a database for CI alone, and the role that pgwicket logs in with. Each job makes a
-- schema ci_<job> and leaves it behind; CASCADE is for the owner's procedure.
CREATE SCHEMA seed;
CREATE TABLE seed.countries (code char(2) PRIMARY KEY, name text NOT NULL);
INSERT INTO seed.countries VALUES ('PT', 'Portugal'), ('NL', 'Netherlands');

CREATE SCHEMA owner;
CREATE PROCEDURE owner.drop_job(job bigint) LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    EXECUTE format('DROP SCHEMA IF EXISTS %I CASCADE', 'ci_' || job);
END $$;

CREATE ROLE wicket_ci LOGIN; -- give it a password: \password wicket_ci
GRANT CREATE ON DATABASE :"DBNAME" TO wicket_ci;
GRANT USAGE ON SCHEMA seed, owner TO wicket_ci;
GRANT SELECT ON seed.countries TO wicket_ci;
ANALYZE;
