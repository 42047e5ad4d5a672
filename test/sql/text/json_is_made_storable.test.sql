-- JSON that Postgres cannot hold is made so that it can: NUL is ␀, half of a character U+FFFD, all else stays byte for byte.
begin;
select plan(8);

create function pg_temp.made(p_json text) returns text language sql as $$ select _storable(p_json::json)::text $$;

select is(pg_temp.made('{"a": "\u00e4 \ud83d\ude42 \\u0000 \\\\ud800"}'), '{"a": "\u00e4 \ud83d\ude42 \\u0000 \\\\ud800"}', 'what can be stored stays, byte for byte');
select is(pg_temp.made('["\u0000\u0000x\\\u0000"]'), '["␀␀x\\␀"]', 'NUL is the picture of it');
select is(pg_temp.made('["\ud800", "\udc00\ud83d", "\ud83d\ud83d\ude42\ude42", "\\ud83d\ude42"]')::jsonb, jsonb_build_array(U&'\FFFD', U&'\FFFD\FFFD', U&'\FFFD\+01F642\FFFD', U&'\\ud83d\FFFD'), 'half of a character is U+FFFD, a whole one stays');
select is(pg_temp.made('{"k\u0000": {"\udc00": 1}}')::jsonb, jsonb_build_object('k␀', jsonb_build_object(U&'\FFFD', 1)), 'keys are made storable, too');
select is(_storable(null)::text, null, 'nothing stays nothing');
select is(_jsonb_of('["\u0000"]'), '["␀"]', 'JSON is made storable as jsonb');
select is(_try_json('{"context": "A\u0000"}'), '{"context": "A␀"}', 'what a command prints is the JSON that it is');
select is(_try_json('{'), null, 'what is no JSON is nothing');

select * from finish();
rollback;
