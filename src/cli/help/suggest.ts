// Suggestions for mistyped commands and flags, and for words of other command lines.
import { editDistance } from "../../text/nearest.ts";
import { ownOf } from "../../text/record.ts";

/** Verbs of other command lines, and the verbs here with the same meaning. */
const verbs: Readonly<Record<string, readonly string[]>> = {
  show: ["get"],
  describe: ["get"],
  view: ["get"],
  info: ["get"],
  inspect: ["get"],
  get: ["get", "show", "list"],
  ls: ["list"],
  all: ["list"],
  list: ["list"],
  rm: ["delete", "remove"],
  remove: ["remove", "delete"],
  del: ["delete"],
  destroy: ["delete"],
  delete: ["delete", "remove"],
  new: ["create", "add", "upload"],
  make: ["create"],
  add: ["add", "create", "upload"],
  create: ["create", "add", "upload"],
  upload: ["upload", "create", "add"],
  edit: ["update", "edit"],
  modify: ["update"],
  change: ["update"],
  set: ["set", "update"],
  find: ["search", "list"],
  search: ["search", "list"],
  move: ["transfer"],
  refresh: ["refetch"],
  watch: ["follow", "list"],
  tail: ["follow"],
  export: ["report", "export"],
};

/**
 * The command that is meant by words of another command line: `get hosts`, `hosts show`, `delete host`. The first topic
 * may be missing: `profiles upload`.
 */
export function commandMeant(words: readonly string[], commandNames: ReadonlySet<string>): string | undefined {
  const [first = "", second = "", third = ""] = words;
  const singular = (topic: string) => !topic.endsWith("s");
  for (const [topic, verb, swapped] of [
    [first, second, false],
    [second, first, true],
    [`${first} ${second}`, third, false],
  ] as const) {
    const meant = ownOf(verbs, verb);
    if (topic === "" || !meant) continue;
    // `get hosts` without a name means the list.
    const possibleVerbs = swapped && verb === "get" && third === "" && !singular(topic) ? ["list", ...meant] : meant;
    const meanings = pluralsOf(topic).flatMap((name) => possibleVerbs.map((word) => `${name} ${word}`));
    const match =
      meanings.find((name) => commandNames.has(name)) ??
      meanings.map((name) => onlyEnding(commandNames, name)).find((name) => name !== undefined);
    if (match !== undefined) return match;
  }
  return undefined;
}

/** Words of other command lines that have no command of the same form, and the commands for them. */
const phrases: Readonly<Record<string, string>> = {
  generate: "export",
  import: "apply",
  "software add": "software packages upload",
  "software create": "software packages upload",
  "software upload": "software packages upload",
  "software packages list": "software list --available-for-install",
  "software packages get": "software get",
  "packages list": "software list --available-for-install",
};

/**
 * The command, or the topic, that ends with the words, or with the first of them: `lock mac-1`, `profiles list`. None
 * if several do.
 */
export function commandWithin(words: readonly string[], commandNames: ReadonlySet<string>): string | undefined {
  for (let count = words.length; count > 0; count--) {
    const text = words.slice(0, count).join(" ").toLowerCase();
    const phrase = ownOf(phrases, text);
    if (phrase !== undefined) return phrase;
    const match = onlyEnding(commandNames, text);
    if (match !== undefined) return match;
  }
  return undefined;
}

function onlyEnding(commandNames: ReadonlySet<string>, words: string): string | undefined {
  const ending = [...commandNames].filter((name) => name.endsWith(` ${words}`));
  return ending.length === 1 ? ending[0] : undefined;
}

const pluralsOf = (word: string): readonly string[] => [word, `${word}s`, `${word.replace(/y$/, "ie")}s`];

/** Words that are wrong by so many letters are other words. */
const MAX_TYPOS = 2;
/** Verbs of commands that change nothing. */
const reading = /(?:^| )(?:list|get|show|status|search|report|count|follow|history|versions|view|diff)$/;

/**
 * The command of which the words, or the first of them, are a typo: as many words, with few wrong letters in all. The
 * beginnings of words count too, but not for commands that may change something.
 */
export function nearCommand(words: readonly string[], commandNames: readonly string[]): string | undefined {
  for (let count = words.length; count > 0; count--) {
    const typed = words.slice(0, count);
    let best: string | undefined;
    let bestDistance = MAX_TYPOS + 1;
    for (const name of commandNames) {
      const distance = distanceOf(typed, name.split(" "), reading.test(name));
      if (distance < bestDistance) {
        best = name;
        bestDistance = distance;
      }
    }
    if (best !== undefined) return best;
  }
  return undefined;
}

function distanceOf(typed: readonly string[], nameWords: readonly string[], mayBegin: boolean): number {
  if (typed.length !== nameWords.length) return Number.POSITIVE_INFINITY;
  let sum = 0;
  for (const [i, word] of typed.entries()) {
    const typos = editDistance(word.toLowerCase(), nameWords[i]!);
    const isBeginning = mayBegin && word.length >= 3 && nameWords[i]!.startsWith(word);
    // Two letters are most of a short word.
    if (!isBeginning && typos > (word.length < 4 ? 1 : MAX_TYPOS)) return Number.POSITIVE_INFINITY;
    sum += isBeginning ? Math.min(1, typos) : typos;
  }
  return sum;
}

const flagWords: Readonly<Record<string, readonly string[]>> = {
  "sort-by": ["sort", "order-key"],
  order: ["sort", "order-key"],
  "order-by": ["sort", "order-key"],
  desc: ["order-direction"],
  asc: ["order-direction"],
  reverse: ["order-direction"],
  format: ["output"],
  columns: ["fields"],
  column: ["fields"],
  field: ["fields"],
  select: ["fields", "where"],
  filter: ["where", "query"],
  search: ["query"],
  name: ["query"],
  selector: ["where"],
  force: ["yes"],
  "team-id": ["team"],
  team: ["teams", "to"],
  host: ["hosts"],
  label: ["labels"],
  "per-page": ["limit"],
  "page-size": ["limit"],
  count: ["limit"],
  max: ["limit"],
  top: ["limit"],
  page: ["all"],
  follow: ["watch"],
  "what-if": ["dry-run"],
  check: ["dry-run"],
  server: ["server-url"],
  url: ["server-url"],
  profile: ["context"],
  "ca-cert": ["ca-file"],
  cacert: ["ca-file"],
  "skip-tls-verify": ["insecure"],
  quiet: ["no-header"],
};

/** The flag that is meant by a flag of another command line; both with their dashes. */
export function flagMeant(flag: string, flagNames: ReadonlySet<string>): string | undefined {
  const meant = ownOf(flagWords, flag.replace(/^-+/, "")) ?? [];
  return meant.map((name) => `--${name}`).find((name) => flagNames.has(name));
}
