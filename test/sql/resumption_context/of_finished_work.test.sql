-- Work that is over has an outcome, and nothing is gone on with.
begin;
select plan(6);

select agent();
select submit('Find why the import is slow');
select play('[[["plan", "1. look\n2. measure"], ["step", "Looked"]], ["The index is missing."]]');
select is((select state from item), 'completed', 'the work is over');
select alike(resumption_context(item()) ->> 'currentState', 'completed; outcome: The index is missing.;%', 'its packet says what came of it');
select is(resumption_context(item()) -> 'suggestedNextSteps', '[]', 'and suggests nothing');
select unalike(export_for_resumption(item()), '%Continue with%', 'nor does its text');
select unalike(export_for_resumption(item()), '%## Next%', 'which has no heading for nothing');
select submit('Find why');
select from ledger_append(item(), 'plan', '1. look');
select is(resumption_context(item()) -> 'suggestedNextSteps', '["Continue with: look"]', 'work that is not over goes on');

select * from finish();
rollback;
