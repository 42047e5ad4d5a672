-- What was taken out of the context, what stands for it, and what was expected of that: closed blocks by their stubs, or,
-- in a compaction, everything before the turns that stay.

create table elisions (
  id uuid primary key default _uuidv7(),
  previous_id uuid references elisions (id),
  ordinal integer not null,
  work_item_id uuid not null references work_items (id),
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
  constraint blocks_are_in_order check (first_block <= last_block + 1),
  constraint stubs_are_a_list check (json_typeof(stubs) = 'array'),
  constraint kept_is_an_object check (json_typeof(kept) = 'object')
);

create index elisions_focus on elisions (focus_id, iteration);

comment on table elisions is
  'One row for each time that something left the context: closed blocks for their stubs, or in a compaction old turns for the ledger or a summary. Append-only; previous_id leads to the stubs that stand in front of its own.';
comment on column elisions.ordinal is
  'Elisions since the last compaction, which is 0. Row n holds the stubs of as many elisions as the lowest bit of n says, so that a request reads one row for each bit, not one for each elision.';
comment on column elisions.iteration is 'The first iteration of the focus whose request has the stubs.';
comment on column elisions.depth is 'Depth of the first turn whose request has the stubs; of the turns above it no thinking is shown any more.';
comment on column elisions.root_turn_id is 'The first turn of the conversation, whose first message (what is to be done) always stays.';
comment on column elisions.last_seq is 'The newest ledger entry of the blocks that are not shown any more.';
comment on column elisions.last_turn_id is 'The newest turn that is not shown any more; the turns after it are shown verbatim. Null: all turns are shown, and only results are shortened.';
comment on column elisions.last_block is 'Newest block that is wholly left out; one less than first_block where a compaction cut within the first block.';
comment on column elisions.stubs is 'Text blocks: the stubs of this elision and of those that it merges, oldest first; in a compaction the ledger, then the summary.';
comment on column elisions.summary is 'The newest summary by a model, which later compactions carry on.';
comment on column elisions.max_result_chars is 'Results of turns above max_result_depth that are longer are shown by head, tail and handle, because nothing else fitted or compact_strategy says so; null: as they are.';
comment on column elisions.max_result_effect is 'Only results of calls with this effect are shortened; null: all are.';
comment on column elisions.tokens_elided is 'Estimated tokens that left the context, with those that the cut before had kept.';
comment on column elisions.kept is 'Calls of the blocks that left whose words stay behind the stubs, because the newest step named what they touch or because it was read lately: {is_named, kept: [{target, calls, artifact}], no_room: [{target, call, handle}]}.';
comment on column elisions.kept_tokens is 'Estimated tokens of what is kept.';
comment on column elisions.tokens_kept is 'Estimated tokens behind the stubs, which are written to the provider''s cache once more.';
