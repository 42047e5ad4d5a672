-- What others wrote becomes one line of what is seen: no line of its own, nothing invisible.
begin;
select plan(7);

select is(_one_line(E'  a\n\t\u2028b\u0085 c ', 100), 'a b c', 'white space of any kind is one blank');
-- One of each: soft hyphen, joiner, Arabic letter mark, Hangul fillers, Mongolian selector, zero width, directions, variants, tags.
select is(_one_line(E'a\u00AD\u034F\u061C\u115F\u1160\u180B\u200B\u200E\u202E\u2066\u3164\uFE00\uFE0F\uFEFF\uFFA0\U000E0001\U000E0061\U000E0100\U000E01EFb', 100), 'a b', 'what nobody sees is not there');
select is(_one_line(E'ᄀ 가 ㅤ', 100), 'ᄀ 가', 'what is seen stays, Hangul too');
select is(_one_line(repeat('x', 11), 10), repeat('x', 9) || '…', 'a long line is cut');
select is(_one_line(E'\n\na' || repeat(' ', 100) || repeat('b', 20), 10), 'a ' || repeat('b', 7) || '…', 'what follows much white space is seen');
select is(_one_line('a b' || repeat(E' \t', 100), 10), 'a b', 'and where nothing follows, nothing is cut');
select is(_one_line(E' a  b \u00A0c\t d\n', 100), 'a b c d', 'a blank beside other white space is one with it');

select * from finish();
rollback;
