-- Cuts of the context: what was left out, what replaces it and what it was expected to save. An elision replaces closed blocks by their stubs; a compaction
-- replaces everything before the turns that stay.

create table elisions (
  id uuid primary key default _uuidv7(),
  previous_id uuid references elisions (id),
  ordinal integer not null,
  work_item_id uuid not null,
  focus_id uuid not null references foci (id),
  iteration integer not null,
  depth integer not null,
  root_turn_id uuid not null references turns (id),
  last_turn_id uuid references turns (id),
  first_block integer not null,
  last_block integer not null,
  last_seq integer not null,
  stubs json not null,
  tokens_elided integer not null,
  tokens_kept integer not null,
  stub_tokens integer not null,
  kept json,
  kept_tokens integer not null default 0,
  summary text,
  max_result_chars integer,
  max_result_depth integer,
  max_result_effect text,
  created_at timestamptz not null default _now(),
  standing json,
  thinking_depth integer,
  constraint blocks_are_in_order check (first_block <= last_block + 1),
  constraint stubs_are_a_list check (json_typeof(stubs) = 'array'),
  constraint kept_is_an_object check (json_typeof(kept) = 'object')
);

create index elisions_focus on elisions (focus_id, iteration);

comment on table elisions is
  'One row for each cut: closed blocks replaced by their stubs (an elision), or old turns by the ledger or a summary (a compaction). Append-only. previous_id is the cut whose stubs come before these; null in a compaction.';
comment on column elisions.previous_id is 'The cut whose stubs come before these; null: it begins anew, as a compaction does.';
comment on column elisions.first_block is 'Oldest block that is left out.';
comment on column elisions.stub_tokens is 'Estimated tokens of the stubs that the cut adds, and of standing.';
comment on column elisions.max_result_depth is 'Results of turns up to this depth are shortened to max_result_chars; null: none are.';
comment on column elisions.ordinal is
  'Position among the cuts since the last compaction, which is 0. Row n holds the stubs of as many elisions as the value of the lowest set bit of n, so that a request reads one row for each set bit, not one for each elision.';
comment on column elisions.iteration is 'The first iteration of the focus whose request uses the cut.';
comment on column elisions.depth is 'Depth of the first turn whose request uses the cut.';
comment on column elisions.thinking_depth is 'Requests with the cut no longer hold the thinking of turns above this depth; null: of those above depth. One less than depth: the response whose results the first of them sends keeps its thinking.';
comment on column elisions.root_turn_id is 'The first turn of the conversation, whose first message (the task) always stays.';
comment on column elisions.last_seq is 'The newest ledger entry of the blocks that are left out.';
comment on column elisions.last_turn_id is 'The newest turn that is left out; the turns after it are shown verbatim. Null: all turns are shown, and only results are shortened.';
comment on column elisions.last_block is 'Newest block that is left out entirely; first_block - 1 if a compaction cut within the first block.';
comment on column elisions.stubs is 'Text blocks. Of an elision: its stubs and those of the elisions that it merges, oldest first. Of a compaction: the ledger, then the summary.';
comment on column elisions.summary is 'The newest summary written by a model; later compactions carry it over.';
comment on column elisions.max_result_chars is 'Longer results of turns above max_result_depth are shown as head, tail and handle, because nothing else fitted or by compact_strategy. Null: results are shown as they are.';
comment on column elisions.max_result_effect is 'Only results of calls with this effect are shortened; null: those of all calls.';
comment on column elisions.tokens_elided is 'Estimated tokens that left the context, including what the previous cut had kept, and its standing.';
comment on column elisions.kept is 'Calls of the elided blocks whose results stay verbatim after the stubs, because the newest step named their target in keep or because the target was read recently: {is_named, kept: [{target, calls, artifact}], no_room: [{target, call, handle}]}.';
comment on column elisions.standing is 'Where the agent stood when the cut was made, shown behind the stubs, and the facts that the next cut starts from: {text, changed, failing}, see standing(). Null: the cut has none.';
comment on column elisions.kept_tokens is 'Estimated tokens of what is kept.';
comment on column elisions.tokens_kept is 'Estimated tokens after the stubs, which are written to the provider''s cache again.';
