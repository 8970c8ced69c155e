// Everything that a command uses outside its own process state, so that tests can replace it.
import { isatty } from "node:tty";
import { pause } from "../client/pause.ts";
import type { Send } from "../client/transport.ts";
import { Terminal } from "./output/terminal.ts";

export interface Asker {
  text(question: string, preset?: string): Promise<string>;
  secret(question: string): Promise<string>;
  yes(question: string): Promise<boolean>;
}

export interface Keyring {
  get(account: string): Promise<string | null>;
  set(account: string, secret: string): Promise<void>;
  delete(account: string): Promise<void>;
}

export interface Io {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly tty: { readonly stdin: boolean; readonly stdout: boolean; readonly stderr: boolean };
  /** The current size of the terminal. */
  readonly columns: number;
  readonly lines: number;
  readonly ask: Asker;
  readonly now: () => Date;
  out(text: string): void;
  /** `out` that waits while the reader is slow. */
  outText?(text: string): Promise<void>;
  /** Writes bytes to stdout unchanged; waits while the reader is slow. */
  outBytes?(bytes: Uint8Array): Promise<void>;
  err(text: string): void;
  readStdin(): Promise<string>;
  /** Stdin as bytes, while they arrive. */
  inBytes?(): AsyncIterable<Uint8Array>;
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Handles requests instead of the network. */
  readonly send?: Send;
  /** Opens a URL in the user's browser, instead of the system's opener. */
  readonly browse?: (url: string) => Promise<void>;
  /** Replaces the operating system's keyring. */
  readonly keyring?: Keyring;
}

// Prompts go to stderr, because stdout is for data.
const terminal = () => ({ input: process.stdin, output: process.stderr });

const asker: Asker = {
  async text(question, preset) {
    const { input } = await import("@inquirer/prompts");
    return input({ message: question, ...(preset === undefined ? {} : { default: preset }) }, terminal());
  },
  async secret(question) {
    const { password } = await import("@inquirer/prompts");
    return password({ message: question, mask: true }, terminal());
  },
  async yes(question) {
    const { confirm } = await import("@inquirer/prompts");
    return confirm({ message: question, default: false }, terminal());
  },
};

const toStdout = (data: string | Uint8Array): Promise<void> =>
  new Promise((resolve, reject) =>
    process.stdout.write(data, (error) => {
      if (!error) return resolve();
      // The reader closed the pipe (`| head`).
      if ("code" in error && error.code === "EPIPE") process.exit(0);
      reject(error);
    }),
  );

export const processIo = (): Io => ({
  env: process.env,
  tty: {
    // `process.stdin.isTTY` would open the stream, which takes as long as a request.
    stdin: isatty(0),
    stdout: process.stdout.isTTY === true,
    stderr: process.stderr.isTTY === true,
  },
  get columns() {
    return process.stdout.columns ?? process.stderr.columns ?? 80;
  },
  get lines() {
    return process.stdout.rows ?? process.stderr.rows ?? 24;
  },
  ask: asker,
  now: () => new Date(),
  out: (text) => void process.stdout.write(text),
  outText: toStdout,
  outBytes: toStdout,
  err: (text) => void process.stderr.write(text),
  async readStdin() {
    let text = "";
    process.stdin.setEncoding("utf8");
    for await (const chunk of process.stdin) text += chunk;
    return text;
  },
  inBytes: () => process.stdin,
  sleep: pause,
});

const terminals = new WeakMap<object, Terminal>();

/** Commands only receive oclif's config, so their terminal is attached to it. */
export function attachIo(config: object, io: Io): Terminal {
  const terminal = new Terminal(io);
  terminals.set(config, terminal);
  return terminal;
}
export const ioOf = (config: object): Terminal => terminals.get(config) ?? attachIo(config, processIo());

/** Whether there is no pager, colour or progress: in scripts and CI. */
export const isDumb = ({ env }: Pick<Io, "env">): boolean => env.TERM === "dumb" || (env.CI ?? "") !== "";
