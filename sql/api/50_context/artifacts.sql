-- Large results and images: stored once, by hash, and referred to by a handle where they are shown. Images are put into a request only when it is
-- built; they leave the context with their block, and can be read again by their handle.

create or replace function _artifact_store(p_work_item_id uuid, p_content text, p_media_type text default null)
  returns text
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_hash text := _content_hash(p_content);
begin
  -- An existing artifact may be about to be collected; the foreign key's lock decides.
  loop
    insert into artifacts (content_hash, content, media_type) values (v_hash, p_content, p_media_type) on conflict do nothing;
    begin
      insert into artifact_uses (content_hash, work_item_id) select v_hash, p_work_item_id where p_work_item_id is not null on conflict do nothing;
      return v_hash;
    exception when foreign_key_violation then
      null;
    end;
  end loop;
end
$$;

comment on function _artifact_store(uuid, text, text) is 'Stores a text, or an image in base64, as an artifact, once, and that the work item uses it; returns its hash. p_media_type: of an image.';

create or replace function _excerpt(p_text text, p_max_chars integer)
  returns text
  language sql
  immutable
  parallel safe
  return (
    select case when v.chars <= 2 * v.half then p_text else left(p_text, v.half)
        || format(E'\n\n[engine: %s of %s characters are not shown here; artifact_read("%s") reads them by range or pattern]\n\n',
                  v.chars - 2 * v.half, v.chars, left(_content_hash(p_text), 16))
        || right(p_text, v.half) end
      from (select char_length(p_text), least(p_max_chars, 8000) / 2) as v(chars, half));

comment on function _excerpt(text, integer) is 'Excerpt of a text stored as an artifact: its first and last characters, in all p_max_chars but at most 8,000, and the handle; a text that is not longer, unchanged.';

create or replace function _image_store(p_work_item_id uuid, p_media_type text, p_data text, p_artifact text default null)
  returns text
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  if p_artifact is null then
    return _image_block(p_media_type, _artifact_store(p_work_item_id, p_data, p_media_type));
  end if;
  insert into artifact_uses (content_hash, work_item_id) values (p_artifact, p_work_item_id) on conflict do nothing;
  return _image_block(p_media_type, p_artifact);
end
$$;

comment on function _image_store(uuid, text, text, text) is
  'Stores an image (base64) as an artifact, once, and that the work item uses it; returns the content block that names it. p_artifact: the image is there already.';

create or replace function _image_block(p_media_type text, p_hash text)
  returns text
  language sql
  immutable
  parallel safe
  return '{"type":"image","source":{"type":"artifact","media_type":"' || p_media_type || '","artifact":"' || p_hash || '"}}';

comment on function _image_block(text, text) is 'The content block that names an image stored as an artifact, as in stored results and messages. Null for null.';

create or replace function _with_images(p_blocks text)
  returns text
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_reference text[];
begin
  if strpos(p_blocks, '{"type":"image","source":{"type":"artifact"') = 0 then
    return p_blocks;
  end if;
  -- Inside a string its quotes would be escaped, so a match is always a block.
  for v_reference in
    select distinct regexp_matches(p_blocks, '\{"type":"image","source":\{"type":"artifact","media_type":"(image/[a-z]+)","artifact":"([0-9a-f]{64})"\}\}', 'g')
  loop
    p_blocks := replace(p_blocks, _image_block(v_reference[1], v_reference[2]), (
      select '{"type":"image","source":{"type":"base64","media_type":"' || v_reference[1] || '","data":' || to_json(content)::text || '}}'
        from artifacts where content_hash = v_reference[2]));
  end loop;
  return p_blocks;
end
$$;

comment on function _with_images(text) is 'Blocks of a user message as text, with image references replaced by the images, as a request has them.';

create or replace function _images_of(p_turn_ids uuid[])
  returns jsonb
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select jsonb_agg(i.source order by i.place)
    from (
      select b.value #> '{source}' as source, max(array[u.n, c.n, c.m, b.n]) as place
        from unnest(p_turn_ids) with ordinality as u(turn_id, n)
        cross join lateral (
          select 0 as n, m.sequence as m, m.content from messages m where m.turn_id = u.turn_id and m.role = 'user'
          union all
          select 1, k.ordinal, k.result from tool_calls k where k.turn_id = u.turn_id and k.parent_call_id is null and json_typeof(k.result) = 'array') c
        cross join lateral jsonb_array_elements(c.content::jsonb) with ordinality as b(value, n)
       where b.value ->> 'type' = 'image' and b.value #>> '{source,type}' = 'artifact'
       group by 1
       order by 2 desc
       limit 10) i;
$$;

comment on function _images_of(uuid[]) is 'The newest ten images in the messages and results of these turns: [{media_type, artifact}]; null: none.';

create or replace function _artifact(p_handle text)
  returns artifacts
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_handle text := lower(btrim(p_handle));
  v_artifact artifacts;
begin
  if v_handle is null or v_handle !~ '^[0-9a-f]{16,64}$' then
    perform _raise_invalid(
      format('"%s" is not a handle', _one_line(p_handle, 80)),
      'A handle is at least 16 hexadecimal digits, as shown with the head and tail of a large result.');
  end if;
  select * into v_artifact from artifacts where content_hash >= v_handle and content_hash < v_handle || 'g' limit 1;
  if not found then
    raise exception using errcode = 'WL001', message = format('there is no artifact %s', v_handle);
  end if;
  return v_artifact;
end
$$;

comment on function _artifact(text) is 'The artifact with that handle. Raises WL001, WL002.';

create or replace function _recalled_images(p_work_item_id uuid, p_ability text, p_input jsonb)
  returns jsonb
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  return case p_ability
    when 'artifact_read' then (select jsonb_build_array(jsonb_build_object('media_type', a.media_type, 'artifact', a.content_hash))
                                 from _artifact(p_input ->> 'handle') a where a.media_type is not null)
    when 'recall_block' then case when coalesce(p_input ->> 'query', '') = '' then
      (select _images_of(_turns_of_block(h.id, _count('n', p_input ->> 'n'))) from _newest_turn(p_work_item_id) h(id)) end
  end;
end
$$;

comment on function _recalled_images(uuid, text, jsonb) is 'The images to show with the result of artifact_read or recall_block: [{media_type, artifact}]; null: none.';
