-- What has arrived of a response that is still coming, for whoever watches.

create unlogged table turn_streams (
  turn_id uuid primary key references turns (id),
  content json not null,
  updated_at timestamptz not null default _now(),
  constraint content_is_a_list_of_blocks check (json_typeof(content) = 'array'),
  constraint content_is_at_most_4_mib check (octet_length(content::text) <= 4194304)
);

comment on table turn_streams is 'The blocks of a response as far as they have arrived, at most once a second, of watched work items only; gone when the turn is stored or asked again. Unlogged: a crash empties it, and nothing is lost. Written by turn_stream(), read by work_activity() and v_streaming.';
comment on column turn_streams.content is 'As in messages; of a call that is still being written, input is the beginning of its JSON, a string.';
