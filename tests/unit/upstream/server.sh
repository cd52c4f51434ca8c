#!/bin/sh
# Runs a command beside a PostgreSQL server of its own: TLS, SCRAM, an empty database.
#
#   server.sh COMMAND [ARGUMENT]…
#
# The command finds a superuser's connection string in PGWICKET_TEST_UPSTREAM. The server listens on
# a free port of 127.0.0.1 and lives in a temporary directory; both are gone at the end. Exit status
# is the command's. PGWICKET_PG_BIN says where initdb and postgres are.
set -eu

bin=${PGWICKET_PG_BIN:-/usr/lib/postgresql/15/bin}
dir=$(mktemp -d)
trap 'stop' EXIT
trap 'exit 130' INT TERM

stop() {
    if [ -s "$dir/data/postmaster.pid" ]; then
        kill -INT "$(head -n 1 "$dir/data/postmaster.pid")" 2>/dev/null || true
        wait || true
    fi
    rm -rf "$dir"
}

# initdb and postgres refuse to run as root.
as_owner() {
    if [ "$(id -u)" = 0 ]; then
        setpriv --reuid=postgres --regid=postgres --clear-groups "$@"
    else
        "$@"
    fi
}

free_port() {
    python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

[ "$(id -u)" != 0 ] || chown postgres "$dir"
password=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
printf '%s\n' "$password" >"$dir/password"
chmod 644 "$dir/password"
as_owner "$bin/initdb" -D "$dir/data" -U postgres -A scram-sha-256 --pwfile="$dir/password" \
    -E UTF8 --locale=C.UTF-8 --no-sync >"$dir/initdb.log" 2>&1 || { cat "$dir/initdb.log" >&2; exit 3; }
as_owner openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost \
    -addext 'subjectAltName=DNS:localhost,IP:127.0.0.1' \
    -keyout "$dir/data/server.key" -out "$dir/data/server.crt" 2>/dev/null
as_owner chmod 600 "$dir/data/server.key"

port=$(free_port)
as_owner "$bin/postgres" -D "$dir/data" -p "$port" -h 127.0.0.1 -k "$dir" -c ssl=on -c fsync=off \
    >"$dir/server.log" 2>&1 &
tries=0
until "$bin/pg_isready" -q -h 127.0.0.1 -p "$port"; do
    tries=$((tries + 1))
    if [ "$tries" -gt 100 ]; then
        cat "$dir/server.log" >&2
        exit 3
    fi
    sleep 0.1
done

PGWICKET_TEST_UPSTREAM="host=127.0.0.1 port=$port dbname=postgres user=postgres password=$password"
export PGWICKET_TEST_UPSTREAM
status=0
"$@" || status=$?
exit "$status"
