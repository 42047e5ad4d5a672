-- Closed blocks that were taken out of the context: what stands for them, and what was expected of it.

create table elisions (
  id uuid primary key default _uuidv7(),
  previous_id uuid references elisions (id),
  work_item_id uuid not null references work_items (id),
  focus_id uuid not null references foci (id),
  iteration integer not null,
  depth integer not null,
  root_turn_id uuid not null references turns (id),
  last_turn_id uuid not null references turns (id),
  first_block integer not null,
  last_block integer not null,
  last_seq integer not null,
  stubs json not null,
  tokens_elided integer not null,
  tokens_kept integer not null,
  stub_tokens integer not null,
  created_at timestamptz not null default _now(),
  constraint blocks_are_in_order check (first_block <= last_block),
  constraint stubs_are_a_list check (json_typeof(stubs) = 'array')
);

create index elisions_focus on elisions (focus_id, iteration);

comment on table elisions is
  'One row for each time that closed blocks were replaced by their stubs. Append-only; previous_id leads to the stubs that stood there before.';
comment on column elisions.iteration is 'The first iteration of the focus whose request has the stubs.';
comment on column elisions.depth is 'Depth of the first turn whose request has the stubs; of the turns above it no thinking is shown any more.';
comment on column elisions.root_turn_id is 'The first turn of the conversation, whose first message (what is to be done) always stays.';
comment on column elisions.last_seq is 'The newest ledger entry of the blocks that are not shown any more.';
comment on column elisions.last_turn_id is 'The newest turn that is not shown any more; the turns after it are shown verbatim.';
comment on column elisions.stubs is 'One text block for each elided block, oldest first.';
comment on column elisions.tokens_elided is 'Estimated tokens that left the context.';
comment on column elisions.tokens_kept is 'Estimated tokens behind the stubs, which are written to the provider''s cache once more.';
