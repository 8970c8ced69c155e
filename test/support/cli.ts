// Runs a command line in this process: argv in, stdout, stderr and exit code out.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Config } from "@oclif/core";
import type { Io, Keyring } from "../../src/cli/io.ts";
import { main } from "../../src/cli/run/main.ts";
import { sourceConfig } from "../../src/cli/run/source-config.ts";
import type { Send } from "../../src/client/transport.ts";
import { afterEveryFile } from "./ends.ts";

/** A pause of a command, as far as the test itself is concerned. */
const WAIT_MS = 50;

export const root = fileURLToPath(new URL("../..", import.meta.url));

/** Every command in the sources, or all except those that load the server. */
export const commandsOf = (all = false): Promise<Config> =>
  sourceConfig(root, (file) => import(/* @vite-ignore */ file), all ? () => true : isClient);

const configs = new Map<boolean, Promise<Config>>();
/** Cached configuration; each run gets an object of its own, because its input is attached to it. */
async function ownConfig(all: boolean): Promise<Config> {
  const made = configs.get(all) ?? commandsOf(all);
  configs.set(all, made);
  return Object.create(await made) as Config;
}
const isClient = (file: string) => !/^(serve\.ts|db[/\\]|agent[/\\])/.test(file);

export interface RunOptions {
  /** Handles requests; without it every request fails as if no server were listening. */
  send?: Send;
  env?: Record<string, string>;
  stdin?: string;
  /** The streams that are terminals; `true`: all. */
  tty?: boolean | { stdin?: boolean; stdout?: boolean; stderr?: boolean };
  /** The user's answers, prompt by prompt; a function is called when its turn comes. */
  answers?: (string | boolean | (() => Promise<string>))[];
  now?: Date;
  /** Width of the terminal (100). */
  columns?: number;
  /** Called with the output on stderr, as it is written. */
  onErr?: (text: string) => void;
  onOut?: (text: string) => void;
  /** Called instead of waiting. */
  onWait?: () => Promise<void>;
  /** Called with an address for the browser; without it no browser can be opened. */
  browse?: (url: string) => Promise<void>;
  keyring?: Keyring;
  home?: string;
}
export interface RunResult {
  stdout: string;
  stderr: string;
  exitCode: number;
  /** The questions at prompts. */
  asked: string[];
  /** The waits, in milliseconds; none of them took time. */
  waits: number[];
}

const homes: string[] = [];
/** An empty home folder, removed after the tests of the file. */
export async function newHome(): Promise<string> {
  const home = await mkdtemp(join(tmpdir(), "svc-cli-"));
  homes.push(home);
  return home;
}
afterEveryFile(async () => {
  for (const home of homes.splice(0)) await rm(home, { recursive: true, force: true });
});

const refused: Send = () => {
  throw Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
};

export async function runCli(argv: string[], options: RunOptions = {}): Promise<RunResult> {
  const result: RunResult = { stdout: "", stderr: "", exitCode: 0, asked: [], waits: [] };
  const answers = [...(options.answers ?? [])];
  const answer = async (question: string): Promise<string | boolean> => {
    result.asked.push(question);
    const next = answers.shift();
    if (next === undefined) throw new Error(`nobody answers: ${question}`);
    return typeof next === "function" ? next() : next;
  };
  const { tty = false } = options;
  const home = options.home ?? (await newHome());
  const io: Io = {
    env: { HOME: home, XDG_CONFIG_HOME: join(home, ".config"), SVC_KEYRING: "off", TERM: "xterm", ...options.env },
    tty:
      typeof tty === "boolean"
        ? { stdin: tty, stdout: tty, stderr: tty }
        : { stdin: false, stdout: false, stderr: false, ...tty },
    columns: options.columns ?? 100,
    lines: 30,
    ask: {
      text: async (question) => String(await answer(question)),
      secret: async (question) => String(await answer(question)),
      yes: async (question) => (await answer(question)) === true,
    },
    now: () => options.now ?? new Date("2026-03-01T12:00:00.000Z"),
    out: (text) => {
      result.stdout += text;
      options.onOut?.(text);
    },
    outBytes: async (bytes) => {
      result.stdout += Buffer.from(bytes).toString("latin1");
    },
    err: (text) => {
      result.stderr += text;
      options.onErr?.(text);
    },
    readStdin: async () => options.stdin ?? "",
    sleep: async (ms, signal) => {
      signal?.throwIfAborted();
      result.waits.push(ms);
      // The server goes on with its work meanwhile, which takes real time.
      await Promise.all([pause(WAIT_MS), options.onWait?.()]);
    },
    send: options.send ?? refused,
    browse: options.browse ?? (async () => {}),
    ...(options.keyring === undefined ? {} : { keyring: options.keyring }),
  };
  const heavy = ["serve", "db", "agent"].includes(argv[0] ?? "");
  result.exitCode = await main(argv, await ownConfig(heavy), io);
  return result;
}

/** Sends requests to an app, whatever address they contain. */
export const sendInto =
  (app: { raw(path: string, init?: RequestInit): Promise<Response> }): Send =>
  (url, init) => {
    const { pathname, search } = new URL(url);
    const { body, ...rest } = init;
    if (body === undefined || typeof body === "string") return app.raw(`${pathname}${search}`, init as RequestInit);
    return app.raw(`${pathname}${search}`, { ...rest, body: ReadableStream.from(body), duplex: "half" } as RequestInit);
  };
