-- The part of a response that has arrived so far, for watchers.

create unlogged table turn_streams (
  turn_id uuid primary key references turns (id),
  content json not null,
  updated_at timestamptz not null default _now(),
  constraint content_is_a_list_of_blocks check (json_typeof(content) = 'array'),
  constraint content_is_at_most_4_mib check (octet_length(content::text) <= 4194304)
);

comment on table turn_streams is 'The blocks of a response that have arrived so far; of watched work items only, written at most once a second, and deleted when the turn is stored or asked again. Unlogged: a crash of the database empties it, and nothing is lost. Written by turn_stream(), read by work_activity() and v_streaming.';
comment on column turn_streams.updated_at is 'When more of the response was stored.';
comment on column turn_streams.content is 'As in messages, except that the input of a call that is still arriving is a string: the beginning of its JSON.';
