-- Who shows the hits of a search learns that there are new ones.
begin;
select plan(4);

select agent('{}');
select submit('Fix the parser');
create temporary table was as select ledger_search_newest('parser') as text;
select from ledger_append(item(), 'finding', 'The lexer is slow');
select is(ledger_search_newest('parser'), (select text from was), 'what the search does not find is no news');
select from ledger_append(item(), 'finding', 'The parser is slow');
select isnt(ledger_search_newest('parser'), (select text from was), 'an entry that it finds is');
update was set text = ledger_search_newest('parser');
select from work_complete(item(), 'The parser is fast');
select isnt(ledger_search_newest('parser'), (select text from was), 'and so is an outcome');
select is(ledger_search_newest(''), '', 'nothing that is searched finds nothing');

select * from finish();
rollback;
