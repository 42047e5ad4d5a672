-- The facts that decide how an iteration ends and how the next begins.

create type exchange as (
  turn_id uuid,
  response text,
  results text,
  block_count integer,
  word_chars integer,
  result_chars integer,
  raw_chars integer
);

comment on type exchange is 'A response and the results of its calls as requests show them, see _exchange(). response, results: their content blocks as text, without brackets; empty: none. block_count: how many these are. word_chars, result_chars: how many characters; raw_chars: of the results alone, as _results_chars() counts them.';

create type iteration_flags as (
  last turns,
  head turns,
  is_head boolean,
  is_watched boolean,
  is_limited boolean,
  is_cooling boolean,
  is_written_to boolean,
  is_continued boolean,
  retracted_at timestamptz,
  registry text,
  written_iteration integer,
  call_count integer,
  open_count integer,
  waiting_count integer,
  done_call_id uuid,
  failed_check_id uuid,
  has_news boolean,
  boundary text,
  exchange exchange
);

comment on type iteration_flags is 'What a focus stands at after a turn, see _iteration_flags(). last: the newest turn of its session; head: the newest that is not a compaction. is_head: the session stands at last. is_watched: somebody watches the item. is_limited: it draws on a budget. is_cooling: its model, or the one that answered head, has a cooldown, or had one that nobody has cleared. is_written_to: its inbox has something for the next request. is_continued: last has a child. retracted_at: when an entry of any ledger was last taken back. registry: a mark of the abilities that there are, another one when any of them or the ledger''s own code has changed. written_iteration: the iteration of the focus''s newest ledger entry, 0: it has none. Of the calls of head: call_count, all, with those of code; open_count: those of the model that neither ended nor wait; waiting_count: all that wait; done_call_id: the one that says that the work is done. failed_check_id: the run of the faculty''s check that failed after head. has_news: others entered something, began or ended since the focus was last told what is new; whether it is told, the digest says. boundary: _boundary() of head; exchange: _exchange() of head; both are null while calls are open.';
