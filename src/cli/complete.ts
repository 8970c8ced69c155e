// What may follow at a Tab. A shell asks at each one, so this reads the command manifest itself and loads neither oclif
// nor the API's schemas; names of hosts, teams and users come from the server, briefly, or not at all.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Send } from "../client/transport.ts";
import { listContexts } from "./contexts.ts";
import { type Io, processIo } from "./io.ts";
import { resolveConnection } from "./settings.ts";

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

const patience = 2000;

export async function complete(
  words: string[],
  root: string,
  io: Io = processIo(),
  commands?: Commands,
): Promise<void> {
  const known =
    commands ?? (JSON.parse(await readFile(join(root, "oclif.manifest.json"), "utf8")).commands as Commands);
  const candidates = await candidatesFor(words, known, io);
  io.out(candidates.map(([value, about]) => (about ? `${value}\t${about}\n` : `${value}\n`)).join(""));
}

async function candidatesFor(words: string[], commands: Commands, io: Io): Promise<Candidate[]> {
  const current = words.at(-1) ?? "";
  const before = words.slice(0, -1);
  const { command, rest } = findCommand(before, commands);
  const pending = command && pendingFlag(command, before.at(-1));
  if (pending) return startingWith(current, await valuesOf(pending.name, pending.options, current, before, io));

  const [, flagName, value] = /^--([a-z-]+)=(.*)$/.exec(current) ?? [];
  if (command && flagName !== undefined) {
    const flag = command.flags[flagName];
    const values = flag ? await valuesOf(flag.name, flag.options, value ?? "", before, io) : [];
    return startingWith(value ?? "", values).map(([one]) => [`--${flagName}=${one}`]);
  }
  if (current.startsWith("-")) return command ? startingWith(current, flagsOf(command, before)) : [["--help"]];

  const words_ = startingWith(current, nextWords(before, commands));
  if (!command) return words_;
  const args = Object.values(command.args);
  const arg = args[positionals(command, rest)] ?? (command.strict === false ? args.at(-1) : undefined);
  const values = arg ? await valuesOf(arg.name, arg.options, current, before, io) : [];
  return [...words_, ...startingWith(current, values)];
}

function findCommand(words: string[], commands: Commands): { command?: ManifestCommand; rest: string[] } {
  for (let count = words.length; count > 0; count--) {
    const command = commands[words.slice(0, count).join(":")];
    if (command) return { command, rest: words.slice(count) };
  }
  return { rest: words };
}

/** Words that go on towards a command's name. */
function nextWords(before: string[], commands: Commands): Candidate[] {
  const prefix = before.map((word) => `${word}:`).join("");
  const next = new Map<string, string | undefined>();
  for (const { id, summary, hidden } of Object.values(commands)) {
    if (hidden || !id.startsWith(prefix)) continue;
    const [word = "", ...deeper] = id.slice(prefix.length).split(":");
    if (deeper.length === 0) next.set(word, summary);
    else if (!next.has(word)) next.set(word, undefined);
  }
  if (before.length === 0) next.set("help", "Help for a command.");
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

/** How many arguments stand before the word. */
function positionals(command: ManifestCommand, words: string[]): number {
  return words.filter((word, index) => !word.startsWith("-") && !pendingFlag(command, words[index - 1])).length;
}

const startingWith = (start: string, candidates: readonly Candidate[]): Candidate[] =>
  candidates.filter(([value]) => value.startsWith(start));

async function valuesOf(
  name: string,
  options: string[] | undefined,
  start: string,
  before: string[],
  io: Io,
): Promise<Candidate[]> {
  if (options) return options.map((option) => [option]);
  try {
    if (name === "context")
      return [...(await listContexts(io)).contexts].map(([context, { server_url }]) => [context, server_url]);
    const found = await names(name, start, before, io);
    // One line each for the shell; a control character or leading dash would be taken for something else.
    return found.filter(([value]) => value !== "" && !/^-|[\p{Cc}\p{Zl}\p{Zp}]/u.test(value));
  } catch {
    return [];
  }
}

async function names(kind: string, start: string, before: string[], io: Io): Promise<Candidate[]> {
  const search = encodeURIComponent(start);
  switch (kind) {
    case "host":
    case "hosts": {
      const { hosts } = await ask(`/hosts?per_page=50&order_key=hostname&query=${search}`, before, io);
      return rowsOf(hosts).map(({ hostname, platform }) => [String(hostname), String(platform)]);
    }
    case "team": {
      const { teams } = await ask("/teams?per_page=200", before, io);
      return rowsOf(teams).map(({ name }) => [String(name)]);
    }
    case "label":
    case "labels": {
      const { labels } = await ask("/labels/summary", before, io);
      return rowsOf(labels).map(({ name, label_type }) => [String(name), String(label_type)]);
    }
    case "query":
    case "queries": {
      const { queries } = await ask(`/queries?per_page=50&query=${search}`, before, io);
      return rowsOf(queries).map(({ name, description }) => [String(name), String(description)]);
    }
    case "pack": {
      const { packs } = await ask("/packs", before, io);
      return rowsOf(packs).map(({ name, description }) => [String(name), String(description)]);
    }
    case "policy":
    case "policies": {
      const { policies } = await ask(`/global/policies?per_page=50&query=${search}`, before, io);
      return rowsOf(policies).map(({ name, description }) => [String(name), String(description)]);
    }
    case "user": {
      const { users } = await ask(`/users?per_page=50&query=${search}`, before, io);
      return rowsOf(users).map(({ email, name }) => [String(email), String(name)]);
    }
    default:
      return [];
  }
}

const rowsOf = (value: unknown): Record<string, unknown>[] => (Array.isArray(value) ? value : []);

async function ask(path: string, before: string[], io: Io): Promise<Record<string, unknown>> {
  const connection = await resolveConnection(io, connectionFlags(before));
  const token = await connection.token();
  if (token === null) return {};
  const { ca, insecure } = connection;
  const send: Send =
    io.send ??
    (await import("../client/transport.ts")).networkSend({
      timeout: patience,
      tls: { insecure, ...(ca === null ? {} : { ca }) },
    });
  const reply = await send(`${connection.serverUrl}/api/v1/svc${path}`, {
    method: "GET",
    headers: { accept: "application/json", authorization: `Bearer ${token}` },
    signal: AbortSignal.timeout(patience),
  });
  return reply.status === 200 ? JSON.parse(await reply.text()) : {};
}

/** The server chosen on the line so far. */
function connectionFlags(words: string[]): { "server-url"?: string; context?: string; "ca-file"?: string } {
  const flags: Record<string, string> = {};
  for (const name of ["server-url", "context", "ca-file"]) {
    const at = words.indexOf(`--${name}`);
    const value = at === -1 ? words.find((word) => word.startsWith(`--${name}=`))?.split("=")[1] : words[at + 1];
    if (value !== undefined) flags[name] = value;
  }
  return flags;
}
