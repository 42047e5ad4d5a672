#!/usr/bin/env bash
# A clone, its demo, a task of one's own without a model. SOURCE: where it is cloned from.
. "$(dirname "${BASH_SOURCE[0]}")/terminal.sh"
source=$1

type "git clone -q '$source' work-ledger"
type 'cd work-ledger'
type 'make demo'
sees '  tool    bash \{"command":"node --test","timeout":60\} → failed' '  ledger  \[3\] finding: toCents\(\) .*' 'And what a second work item is told: .*' '- toCents\(\) .* \(Demo Engineer/demo, (from files, )?(just now|[0-9]+m ago)\)'

type 'mkdir ~/mine && echo "Buy milk" > ~/mine/notes.txt'
cat >~/mine/replies.json <<'JSON'
[
  {"say": "I look first.", "calls": [{"name": "bash", "input": {"command": "cat notes.txt"}}]},
  {"calls": [{"name": "ledger_append", "input": {"entry_type": "finding", "content": "There is one note: buy milk."}}, {"name": "write_file", "input": {"path": "notes.txt", "content": "Buy milk\nBuy bread\n"}}]},
  {"calls": [{"name": "work_complete", "input": {"summary": "The notes say milk and bread now."}}]}
]
JSON
type 'cat ~/mine/replies.json'
type "./work-ledger run 'Add bread to my notes' --workspace ~/mine --scripted ~/mine/replies.json"
sees 'I look first\.' 'bash cat notes\.txt → done.*' '\[1\] finding: There is one note: buy milk\.' 'write_file notes\.txt .*→ done.*' '  state      completed' '  outcome    The notes say milk and bread now\.'
id=$(printed)
type 'cat ~/mine/notes.txt'
sees 'Buy bread'
type './work-ledger list --all'
sees 'ID +AGE +STATE +FACULTY +WORK' "$id +[0-9]+[smh] +completed +.* Add bread to my notes"
type "./work-ledger logs $id"
sees '[0-9:]+  turn 1 says: I look first\.'
type './work-ledger down'
sees 'stopped the embedded database \(.*\)'
