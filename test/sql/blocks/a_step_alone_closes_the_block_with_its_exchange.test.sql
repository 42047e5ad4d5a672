-- A step that is recorded alone closes the block that it ends, its own exchange included.
begin;
select plan(3);

select agent('{"tools": ["look"], "elide_budget": 0}');
select submit('Fix it');

select play('[
  [["look", "config is TOML"]],
  [["step", "Found the config"], ["note", "beside it"]],
  [["look", "more"]],
  [["step", "Looked"]],
  [["look", "again"]]]');
select is(shape(3), 'user:text,text,text,text', 'nothing is left but the stub, a line that says what stubs are, and where the agent stands');
select is(shape(5), 'user:text,text,text,text,text', 'a second closed block has a stub of its own');
select is(text_of(5, 0, 2) || ' ' || text_of(5, 0, 3), '[completed step 1: Found the config] [completed step 2: Looked]', 'stubs stand oldest first');

select * from finish();
rollback;
