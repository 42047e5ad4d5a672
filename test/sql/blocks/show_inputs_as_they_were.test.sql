-- The input of a kept call is read by a model that looks for the very text in it: no quote and no line break is escaped.
begin;
select plan(5);

select is(_input_lines('{"path": "a.ts", "offset": 3, "all": true, "old_string": "say \"hi\"\n\tnow \\ here"}'),
  E'\npath: a.ts\noffset: 3\nall: true\nold_string:\nsay "hi"\n\tnow \\ here', 'values stand by name in their order, texts as they were');
select is(_input_lines('{"edits": [{"old": "a", "new": ""}, {"old": "b\nc", "new": null}]}'),
  E'\nedits.1.old: a\nedits.1.new: \nedits.2.old:\nb\nc\nedits.2.new: null', 'of a list of edits, too');
select is(_input_lines('"*** Begin Patch\n-a\n+b"'), E'\n*** Begin Patch\n-a\n+b', 'an input that is one text has no name');
select is(_input_lines('{}'), '', 'an empty input has no lines');
select is(_input_lines('{"a": {"b": {"c": {"d": "e"}}}}'), E'\na.b.c: {"d": "e"}', 'what nests deeper than three levels stays JSON');

select * from finish();
rollback;
