#!/bin/sh
# builtins_cover_pg_proc.sh - is every function of the server in the reviewed table, and nothing else?
#
# Takes a connection from PGHOST, PGPORT, PGUSER, PGDATABASE. Prints each signature that only one side
# has ("<" the table, ">" the server), and each that is not harmless without a reason of at most three
# words. Exit 0: equal; 1: not; 3: no server of a major with a table.
set -eu
LC_ALL=C
export LC_ALL

here=$(cd "$(dirname "$0")" && pwd)
major=$(psql -XAtqc "SELECT current_setting('server_version_num')::int / 10000") || exit 3
table="$here/../../parser/builtins/functions-$major.tsv"
[ -f "$table" ] || { echo "no table for PostgreSQL $major" >&2; exit 3; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

tail -n +2 "$table" | cut -f1 | sort > "$work/table"
psql -XAtq > "$work/server" <<'SQL' || exit 3
SET search_path = pg_catalog;
SELECT oid::regprocedure
FROM pg_proc
WHERE pronamespace IN ('pg_catalog'::regnamespace, 'information_schema'::regnamespace)
  AND oid < 16384;
SQL
sort -o "$work/server" "$work/server"

[ -s "$work/server" ] || { echo "the server lists no functions" >&2; exit 3; }
if diff "$work/table" "$work/server" | grep '^[<>]'; then
    exit 1
fi
if tail -n +2 "$table" | awk -F '\t' '$2 != "harmless" && ($3 == "" || split($3, words, " ") > 3)' | grep .; then
    exit 1
fi
echo "$(wc -l < "$work/table") functions of PostgreSQL $major, each in the table"
