// Everything a command touches outside itself, so that tests can stand in for it.
import { pause } from "../client/pause.ts";
import type { Send } from "../client/transport.ts";

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
  readonly columns: number;
  readonly ask: Asker;
  readonly now: () => Date;
  out(text: string): void;
  /** As `out`; waits while its reader is slow. */
  outText?(text: string): Promise<void>;
  /** Bytes for stdout as they are; waits while its reader is slow. */
  outBytes?(bytes: Uint8Array): Promise<void>;
  err(text: string): void;
  readStdin(): Promise<string>;
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Answers requests in place of the network. */
  readonly send?: Send;
  /** Opens an address in the user's browser, in place of the system. */
  readonly browse?: (url: string) => Promise<void>;
  /** Stands in for the operating system's keyring. */
  readonly keyring?: Keyring;
}

// Prompts go to stderr: stdout belongs to data.
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
      // Its reader has seen enough (`| head`).
      if ("code" in error && error.code === "EPIPE") process.exit(0);
      reject(error);
    }),
  );

export const processIo = (): Io => ({
  env: process.env,
  tty: {
    stdin: process.stdin.isTTY === true,
    stdout: process.stdout.isTTY === true,
    stderr: process.stderr.isTTY === true,
  },
  columns: process.stdout.columns ?? 80,
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
  sleep: pause,
});

const ios = new WeakMap<object, Io>();

/** Commands know only oclif's config: what they touch hangs on it. */
export const attachIo = (config: object, io: Io): void => void ios.set(config, io);
export const ioOf = (config: object): Io => {
  const io = ios.get(config) ?? processIo();
  ios.set(config, io);
  return io;
};

/** Whether people watch: no pager, colour or progress for scripts and CI. */
export const isDumb = ({ env }: Pick<Io, "env">): boolean => env.TERM === "dumb" || (env.CI ?? "") !== "";
