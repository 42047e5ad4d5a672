// The shell completion scripts: commands, options and the words an option accepts come from the program itself, ids of work items and names
// of faculties from the ledger (complete.ts), if it answers. No shell interprets the latter, since others chose them.

import type { Command, Option } from 'commander';

/** What the script asks the ledger for. */
type Asked = 'items' | 'faculties';
type Words = {
  command: string;
  description: string;
  aliases: readonly string[];
  options: readonly Option[];
  /** Whether the argument is the id of a work item; otherwise it is a file. */
  takesItem: boolean;
};

export type Shell = 'bash' | 'zsh' | 'fish';

export function completion(program: Command, shell: Shell): string {
  const all = program
    .createHelp()
    .visibleCommands(program)
    .map((one): Words => ({
      command: one.name(),
      description: one.description(),
      aliases: one.aliases(),
      options: one.options.filter(({ hidden }) => !hidden),
      takesItem: [one, ...one.commands].some(({ registeredArguments }) => registeredArguments.some((argument) => argument.name() === 'id')),
    }));
  return { bash, zsh, fish }[shell](all);
}

const names = ({ command, aliases }: Words): string[] => [command, ...aliases];
const flags = (words: Words): string[] => words.options.flatMap((option) => (option.long ? [option.long] : []));
const choices = (words: Words): [flag: string, choices: readonly string[]][] =>
  words.options.flatMap((option) => (option.long && option.argChoices ? [[option.long, option.argChoices]] : []));

const ofItems = ['parent', 'resume', 'workItem'];

/** What the script asks the ledger for as the value of an option; null: nothing. */
function askedFor(option: Option): Asked | null {
  if (ofItems.includes(option.attributeName())) return 'items';
  return option.attributeName() === 'faculty' && option.flags.includes('<name>') ? 'faculties' : null;
}

function bash(all: readonly Words[]): string {
  const cases = all.flatMap((words) => [
    ...choices(words).map(
      ([flag, list]) =>
        `    ${names(words)
          .map((name) => `${name}:${flag}`)
          .join('|')}) COMPREPLY=($(compgen -W '${list.join(' ')}' -- "$word")); return ;;`,
    ),
    ...words.options.flatMap((option) => {
      const asked = askedFor(option);
      const patterns = names(words).map((name) => `${name}:${option.long}`);
      return asked === null ? [] : [`    ${patterns.join('|')}) _work_ledger_asks ${asked}; return ;;`];
    }),
    `    ${names(words)
      .map((name) => `${name}:*`)
      .join('|')}) words='${flags(words).join(' ')}'${words.takesItem ? ' asked=items' : ''} ;;`,
  ]);
  return `# work-ledger --completion bash
_work_ledger_asks() {
  local line
  COMPREPLY=()
  while IFS= read -r line; do COMPREPLY+=("\${line%%$'\\t'*}"); done < <(work-ledger --complete "$1" "$word" 2>/dev/null)
}
_work_ledger() {
  local word=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]} words asked
  if [ "$COMP_CWORD" = 1 ]; then
    COMPREPLY=($(compgen -W '${all.flatMap(names).join(' ')}' -- "$word"))
    return
  fi
  case "\${COMP_WORDS[1]}:$before" in
${cases.join('\n')}
  esac
  if [[ $word == -* ]]; then COMPREPLY=($(compgen -W "$words" -- "$word")); return; fi
  if [ -n "$asked" ]; then _work_ledger_asks "$asked"; fi
  if [ "\${#COMPREPLY[@]}" = 0 ]; then COMPREPLY=($(compgen -f -- "$word")); fi
}
complete -o filenames -F _work_ledger work-ledger`;
}

/** Escapes a text within single quotes of a shell. */
const quoted = (text: string): string => text.replaceAll("'", `'\\''`);

function valueInZsh(option: Option): string {
  if (option.argChoices) return `(${option.argChoices.join(' ')})`;
  const asked = askedFor(option);
  return asked === null ? '_files' : `{_work_ledger_asks ${asked}}`;
}

function zsh(all: readonly Words[]): string {
  const plain = (text: string): string => quoted(text.replaceAll(/[[\]:]/g, ' '));
  const cases = all.map((words) => {
    const options = words.options.map(
      (option) =>
        `'${option.long}[${plain(option.description)}]${option.required || option.optional ? `:value:${valueInZsh(option)}` : ''}'`,
    );
    return `    ${names(words).join('|')}) _arguments ${options.join(' ')} '*:argument:${words.takesItem ? '{_work_ledger_asks items || _files}' : '_files'}' ;;`;
  });
  return `#compdef work-ledger
_work_ledger_asks() {
  local line
  local -a found shown
  for line in "\${(@f)$(work-ledger --complete $1 "$PREFIX" 2>/dev/null)}"; do
    [ -n "$line" ] || continue
    found+=("\${line%%$'\\t'*}")
    shown+=("\${line//$'\\t'/  }")
  done
  (( $#found )) && compadd -l -d shown -a found
}
_work_ledger() {
  if (( CURRENT == 2 )); then
    local commands=(${all.flatMap((words) => names(words).map((name) => `'${name}:${plain(words.description)}'`)).join(' ')})
    _describe command commands
    return
  fi
  local called=$words[2]
  shift words
  (( CURRENT-- ))
  case $called in
${cases.join('\n')}
  esac
}
if [ "$funcstack[1]" = _work_ledger ]; then _work_ledger "$@"; else compdef _work_ledger work-ledger; fi`;
}

const asksInFish = (asked: Asked): string => ` -f -a '(work-ledger --complete ${asked} (commandline -ct) 2>/dev/null)'`;

function valueInFish(option: Option): string {
  const asked = askedFor(option);
  if (option.argChoices) return ` -f -a '${option.argChoices.join(' ')}'`;
  return asked === null ? '' : asksInFish(asked);
}

function fish(all: readonly Words[]): string {
  return all
    .flatMap((words) => [
      ...names(words).map((name) => `complete -c work-ledger -n __fish_use_subcommand -a ${name} -d '${quoted(words.description)}'`),
      ...(words.takesItem
        ? [`complete -c work-ledger -n '__fish_seen_subcommand_from ${names(words).join(' ')}'${asksInFish('items')}`]
        : []),
      ...words.options.map(
        (option) =>
          `complete -c work-ledger -n '__fish_seen_subcommand_from ${names(words).join(' ')}' -l ${option.long?.slice(2)}${option.required ? ' -r' : ''}${valueInFish(option)} -d '${quoted(option.description)}'`,
      ),
    ])
    .join('\n');
}
