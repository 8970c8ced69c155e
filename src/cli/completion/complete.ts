// Shell completion. A shell runs it at every Tab, so it reads the command manifest itself and loads neither oclif nor
// the API's schemas. Names of hosts, teams and users come from a short-lived cache or the server, within a time
// limit.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { ownOf } from "../../text/record.ts";
import { listContexts } from "../auth/contexts.ts";
import { helpTopics } from "../help/help-topics.ts";
import { type Io, processIo } from "../io.ts";
import { expandAlias, listAliases } from "../run/aliases.ts";
import { rowsFor, valueKind } from "./values.ts";

export interface ManifestFlag {
  name: string;
  type: "boolean" | "option";
  char?: string;
  summary?: string;
  description?: string;
  options?: string[];
  hidden?: boolean;
  multiple?: boolean;
  allowNo?: boolean;
}
export interface ManifestCommand {
  id: string;
  summary?: string;
  hidden?: boolean;
  strict?: boolean;
  flags: Record<string, ManifestFlag>;
  args: Record<string, { name: string; options?: string[] }>;
}
export type Commands = Record<string, ManifestCommand>;
type Candidate = readonly [value: string, about?: string];

/** Time limit for the whole completion, because a keyring or a server may be slow. */
const LONGEST_MS = 1500;

export async function complete(
  words: string[],
  root: string,
  io: Io = processIo(),
  commands?: Commands,
): Promise<void> {
  const allCommands =
    commands ?? (JSON.parse(await readFile(join(root, "oclif.manifest.json"), "utf8")).commands as Commands);
  const late = new Promise<Candidate[]>((resolve) => void setTimeout(resolve, LONGEST_MS, []).unref());
  const candidates = await Promise.race([candidatesFor(words, allCommands, io), late]);
  const text = candidates.map(([value, about]) => (about ? `${value}\t${about}\n` : `${value}\n`)).join("");
  if (io.outText) await io.outText(text);
  else io.out(text);
}

async function candidatesFor(words: string[], commands: Commands, io: Io): Promise<Candidate[]> {
  const current = words.at(-1) ?? "";
  if (words.length === 1 && !current.startsWith("-"))
    return startingWith(current, [...nextWords([], commands), ...(await aliases(io))]);
  const before = await withoutAlias(words.slice(0, -1), commands, io);
  if (before[0] === "help") return startingWith(current, helped(before.slice(1), commands));
  const { command, rest } = findCommand(before, commands);
  const pending = command && pendingFlag(command, before.at(-1));
  if (command && pending) return listed(command, pending, current, before, io);

  const [, flagName, value] = /^--([a-z-]+)=(.*)$/.exec(current) ?? [];
  if (command && flagName !== undefined) {
    const flag = ownOf(command.flags, flagName);
    const values = flag ? await listed(command, flag, value ?? "", before, io) : [];
    return values.map(([candidate, about]) => [`--${flagName}=${candidate}`, about]);
  }
  if (current.startsWith("-")) return command ? startingWith(current, flagsOf(command, before)) : [["--help"]];

  const next = startingWith(current, nextWords(before, commands));
  if (!command) return next;
  const args = Object.values(command.args);
  const arg = args[positionals(command, rest)] ?? (command.strict === false ? args.at(-1) : undefined);
  const values = arg ? await valuesOf(command, arg, current, before, io) : [];
  return [...next, ...startingWith(current, values)];
}

const aliases = async ({ env }: Io): Promise<Candidate[]> =>
  Object.entries(await listAliases(env)).map(([name, words]) => [name, words.join(" ")]);

/** The words with an alias of the user expanded: what follows it is completed as after its command. */
async function withoutAlias(words: string[], commands: Commands, { env }: Io): Promise<string[]> {
  const [first = ""] = words;
  const isCommand = first === "help" || Object.keys(commands).some((id) => id === first || id.startsWith(`${first}:`));
  return isCommand ? words : ((await expandAlias(words, env)) ?? words);
}

/** Values of a flag. For a flag that takes several, one word may contain several values, separated by commas. */
async function listed(command: ManifestCommand, flag: ManifestFlag, current: string, before: string[], io: Io) {
  const values = (start: string) => valuesOf(command, flag, start, before, io);
  const comma = flag.multiple || flag.name === "fields" ? current.lastIndexOf(",") : -1;
  if (comma === -1) return startingWith(current, await values(current));
  const [head, start] = [current.slice(0, comma + 1), current.slice(comma + 1)];
  const used = head.split(",");
  return startingWith(start, await values(start))
    .filter(([value]) => !used.includes(value))
    .map(([value, about]): Candidate => [`${head}${value}`, about]);
}

/** Arguments of `help`. */
function helped(before: string[], commands: Commands): Candidate[] {
  const topics = before.length === 0 ? Object.entries(helpTopics).map(([name, { summary }]) => [name, summary]) : [];
  return [...nextWords(before, commands), ...(topics as [string, string][])];
}

function findCommand(words: string[], commands: Commands): { command?: ManifestCommand; rest: string[] } {
  for (let count = words.length; count > 0; count--) {
    const command = ownOf(commands, words.slice(0, count).join(":"));
    if (command) return { command, rest: words.slice(count) };
  }
  return { rest: words };
}

/** The next words of command names that begin with the words so far. */
function nextWords(before: string[], commands: Commands): Candidate[] {
  const prefix = before.map((word) => `${word}:`).join("");
  const next = new Map<string, string | undefined>();
  for (const { id, summary, hidden } of Object.values(commands)) {
    if (hidden || !id.startsWith(prefix)) continue;
    const [word = "", ...deeper] = id.slice(prefix.length).split(":");
    if (deeper.length === 0) next.set(word, summary);
    else if (!next.has(word)) next.set(word, undefined);
  }
  return [...next].sort(([a], [b]) => a.localeCompare(b));
}

function pendingFlag(command: ManifestCommand, word: string | undefined): ManifestFlag | undefined {
  if (word === undefined || !word.startsWith("-") || word.includes("=")) return undefined;
  const flag = Object.values(command.flags).find(({ name, char }) => word === `--${name}` || word === `-${char}`);
  return flag?.type === "option" ? flag : undefined;
}

function flagsOf(command: ManifestCommand, used: string[]): Candidate[] {
  const flags = Object.values(command.flags).filter(
    ({ name, hidden, multiple }) => !hidden && (multiple || !used.includes(`--${name}`)),
  );
  const all = flags.flatMap(({ name, summary, description, allowNo }): Candidate[] => [
    [`--${name}`, summary ?? description],
    ...(allowNo ? ([[`--no-${name}`]] as Candidate[]) : []),
  ]);
  return [...all, ["--help", "Help for this command."]];
}

/** The number of positional arguments before the current word. */
function positionals(command: ManifestCommand, words: string[]): number {
  return words.filter((word, index) => !word.startsWith("-") && !pendingFlag(command, words[index - 1])).length;
}

const startingWith = (start: string, candidates: readonly Candidate[]): Candidate[] =>
  candidates.filter(([value]) => value.startsWith(start));

async function valuesOf(
  command: ManifestCommand,
  taker: { name: string; options?: string[]; summary?: string },
  start: string,
  before: string[],
  io: Io,
): Promise<Candidate[]> {
  const { name, options } = taker;
  if (options) return options.map((option) => [option]);
  try {
    if (named.has(name)) {
      const { wordsFor } = await import("./words.ts");
      const words = await wordsFor(command.id, taker, start, async (kind, text) =>
        (await rowsFor(kind, text, connectionFlags(before), io)).map(({ value }) => value),
      );
      if (words) return words;
    }
    if (name === "context")
      return [...(await listContexts(io)).contexts].map(([context, { server_url }]) => [context, server_url]);
    const source = valueKind(command.id, name, taker.summary);
    if (!source) return [];
    const rows = await rowsFor(source.kind, source.id ? "" : start, connectionFlags(before), io);
    // The shell reads one candidate per line, so control characters and leading dashes would be misread.
    return rows
      .map(({ value, about, id }): Candidate => (source.id ? [String(id), value] : [value, about]))
      .filter(([value]) => value !== "" && !/^-|[\p{Cc}\p{Zl}\p{Zp}]/u.test(value))
      .map(([value, about]) => [value, about?.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ")]);
  } catch {
    return [];
  }
}

/** Flags and arguments that may be completed from the API's schemas; others need not load them. */
const named: ReadonlySet<string> = new Set(["fields", "where", "resource", "action", "path", "assignments"]);

/** The connection flags and the team in the words typed so far. */
function connectionFlags(words: string[]): Record<string, string> {
  const flags: Record<string, string> = {};
  for (const name of ["server-url", "context", "ca-file", "team"]) {
    const at = words.indexOf(`--${name}`);
    const value = at === -1 ? words.find((word) => word.startsWith(`--${name}=`))?.split("=")[1] : words[at + 1];
    if (value !== undefined) flags[name] = value;
  }
  return flags;
}
