# setup.sh - what the measurements that need a server share. Source it; it makes $dir, which goes at the end,
# and stops what start_server and start_wicket started.
#
# Needs a Release build in PGWICKET_BIN (or build/pgwicket) and PostgreSQL 15.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
bin=${PGWICKET_BIN:-$here/build/pgwicket}
pgbench=/usr/lib/postgresql/15/bin/pgbench
me=$(basename "$0")
pids=()

finish() {
    for pid in "${pids[@]}"; do
        kill "$pid" 2>/dev/null || true
    done
    wait 2>/dev/null || true
    "$here/deploy/throwaway-postgres" stop "$dir/server" || true
    rm -rf "$dir"
}

# need PROGRAM... - ends with a hint where one of them, or pgwicket or pgbench, is missing
need() {
    for needed in "$bin" "$pgbench" "$@"; do
        if ! command -v "$needed" >/dev/null; then
            echo "$me: $needed is missing (build with cmake -B build -G Ninja && ninja -C build;" \
                "apt-get install postgresql-15 pgbouncer python3-psycopg2)" >&2
            exit 2
        fi
    done
}

free_port() {
    /usr/bin/python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# start_server SCALE - a server with pgbench's tables in database bench, which role bench owns; its port is $port
start_server() {
    dir=$(mktemp -d)
    chmod 755 "$dir"
    trap finish EXIT
    mkdir "$dir/server"
    "$here/deploy/throwaway-postgres" start "$dir/server"
    port=$(cat "$dir/server/port")
    psql -qX -h "$dir/server" -p "$port" -U postgres \
        -c "CREATE ROLE bench LOGIN PASSWORD 'bench'" -c "CREATE DATABASE bench OWNER bench"
    export PGPASSWORD=bench PGSSLMODE=disable
    "$pgbench" -i -q -s "$1" -h 127.0.0.1 -p "$port" -U bench bench 2>/dev/null
}

# start_wicket - pgwicket with the configuration on standard input
start_wicket() {
    cat >"$dir/wicket.yaml"
    "$bin" serve "$dir/wicket.yaml" 2>"$dir/wicket.log" &
    pids+=($!)
}

# tps MODE PORT USER PASSWORD ARGUMENT... - transactions a second of one run of pgbench
tps() {
    local mode=$1 where=$2 user=$3 password=$4
    PGPASSWORD=$password "$pgbench" -n -M "$mode" -c "$clients" -T "$seconds" -h 127.0.0.1 -p "$where" \
        -U "$user" "${@:5}" bench 2>"$dir/pgbench.log" | sed -n 's/^tps = \([0-9.]*\).*/\1/p'
}
