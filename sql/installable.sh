#!/bin/sh
# Whether `make install` can put the extension where PG_CONFIG ($1), below DESTDIR ($2), says; else one sentence that says what to do.
pg_config=$1
destdir=$2
no() { echo "$*" >&2; exit 1; }

command -v "$pg_config" >/dev/null ||
  no "there is no $pg_config, which says where PostgreSQL is: apt-get install postgresql-server-dev-all, or make install PG_CONFIG=/path/to/pg_config; without files on the server: work-ledger install"
pgxs=$("$pg_config" --pgxs)
[ -f "$pgxs" ] || no "$pgxs, which installs extensions, is missing: apt-get install postgresql-server-dev-$("$pg_config" --version | sed 's/[^0-9]*\([0-9]*\).*/\1/')"
at=$destdir$("$pg_config" --sharedir)/extension
there=$at
while [ ! -e "$there" ]; do there=$(dirname "$there"); done
[ -w "$there" ] && exit 0
named=
[ "$pg_config" = pg_config ] || named=" PG_CONFIG=$pg_config"
[ -z "$destdir" ] || named="$named DESTDIR=$destdir"
no "$at is not yours to write. It is built; install it: sudo make -C sql install BUILT=../build/share/extension$named"
