-- Findings are ranked by the words of the reader's item, or by time.
begin;
select plan(2);

select from faculty_save('{"name": "relevant", "accepts": ["relevant"], "awareness": {"rank_by": "relevance", "max_recent_findings": 2}}');
create temporary table other as select * from work_submit('by hand', 'Other work');
select from other, unnest(array['The invoices round wrongly', 'Cats sleep', 'The importer is slow', 'Dogs bark', 'Birds sing']) f, ledger_append(other.id, 'finding', f);
select submit('Make importing of invoices quicker', 'relevant');

select matches(awareness_digest(item()), E'Recent findings:\n- The (importer|invoices).*\n- The (importer|invoices)[^\n]*$', 'findings that share words with the item come first');
select from faculty_save('{"name": "relevant", "accepts": ["relevant"], "awareness": {"max_recent_findings": 2}}');
select matches(awareness_digest(item()), E'Recent findings:\n- Birds sing.*\n- Dogs bark[^\n]*$', 'without a ranking the newest findings come first');

select * from finish();
rollback;
