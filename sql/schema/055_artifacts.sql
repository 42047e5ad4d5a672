-- Large outputs, stored once for each distinct content and read through a handle.

create table artifacts (
  content_hash text collate "C" primary key,
  content text not null,
  media_type text,
  created_at timestamptz not null default _now(),
  constraint content_hash_is_sha256 check (content_hash ~ '^[0-9a-f]{64}$'),
  constraint content_is_at_most_32_mib check (octet_length(content) <= 33554432)
);

comment on table artifacts is 'Outputs too large for a model''s context, one row for each distinct content; artifact_read() reads them. Append-only.';
comment on column artifacts.content is 'The whole output.';
comment on column artifacts.media_type is 'Of an image, whose content is base64; null: the content is text.';
comment on column artifacts.content_hash is 'SHA-256 of the content in UTF-8, in hexadecimal; its first 16 digits are the handle.';
