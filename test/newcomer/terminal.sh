# A terminal that types: shows each command after "$ " and what it prints, and ends the walk where that is not what a newcomer should see.

seen=$(mktemp)
began=()
closeTerminal() {
  for pid in "${began[@]}"; do kill "$pid" 2>/dev/null; done
  rm -f "$seen"
}
trap closeTerminal EXIT

export NO_COLOR=1 TERM=dumb PAGER=cat
uuid='[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}'

fail() { printf '\nwalk: %s\n' "$*"; exit 1; }

# COMMAND: types it. What changes the shell (cd, export) is done here; all else has a terminal of its own.
type() {
  printf '\n$ %s\n' "$1"
  case $1 in
    cd\ * | export\ *) eval "$1" || fail "$1 failed" ;;
    *) script -qefc "stty cols 150 rows 50; $1" /dev/null </dev/null | tr -d '\r' | tee "$seen"
       [ "${PIPESTATUS[0]}" = 0 ] || fail "$1 failed" ;;
  esac
}

# LINE...: a line that the last command must have printed, as an extended regular expression from its beginning to its end.
sees() {
  local line
  for line; do grep -qxE -- "$line" "$seen" || fail "this line is missing: $line"; done
}

# LINE...: none may be there.
misses() {
  local line
  for line; do ! grep -qE -- "$line" "$seen" || fail "this should not be there: $line"; done
}

# The id that the last command printed.
printed() { grep -oE "$uuid" "$seen" | head -n 1; }

# COMMAND: types it in a terminal of its own, where it goes on; "finish" presses Ctrl-C there and shows what it said.
begin() {
  printf '\n$ %s &\n' "$1"
  said=$(mktemp) keys=$(mktemp -u) && mkfifo "$keys"
  exec {keyboard}<>"$keys" && rm "$keys"
  script -qefc "stty cols 150 rows 50; exec $1" /dev/null <&"$keyboard" >"$said" &
  began+=($!)
}
finish() {
  printf '\003' >&"$keyboard"
  wait "${began[-1]}" || fail 'what ran beside it failed'
  unset 'began[-1]'
  printf '\n^C, and meanwhile that terminal said:\n'
  tr -d '\r' <"$said" | tee "$seen"
  exec {keyboard}>&-
  rm "$said"
}
