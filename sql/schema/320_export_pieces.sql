-- The type that functions writing a session for another program pass to each other.

create type export_piece as (
  n bigint,
  part bigint,
  kind text,
  role text,
  turn_id uuid,
  external_id text,
  model text,
  at timestamptz,
  is_by_people boolean,
  block json,
  left_out text[]
);

comment on type export_piece is 'One block of a session that is written for another program, in order (n). part: the blocks of one message share it. kind: text, image, thinking, call or result. external_id: by which the turn was imported. is_by_people: a person or an agent said it, not a program. block: as in the Messages API; null: it is left out. left_out: why, or what of it.';
