// An environment in which the built server is started and stopped many times: data directory, port, database, settings.
import { type ChildProcess, execFile } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type BenchServer, cleanEnv, startServe } from "../../../bench/support/serve.ts";
import { checkLedger, type LedgerCheck } from "../../../src/simulator/ledger.ts";
import { freePort } from "../../support/free-port.ts";
import { type PostgresServer, startPostgres } from "../../support/postgres-server.ts";
import { insist } from "./check.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));

export interface BedOptions {
  readonly engine: "lowdb" | "postgres";
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** An existing data directory, which is not deleted. */
  readonly dir?: string;
}

export class Bed {
  readonly dir: string;
  readonly port: number;
  readonly postgres: PostgresServer | null;
  /** Files of the test itself, separate from the server's. */
  readonly notes = mkdtempSync(join(tmpdir(), "svc-soak-"));
  readonly #options: BedOptions;
  readonly #children = new Set<ChildProcess>();
  readonly #abandon = () => {
    for (const child of this.#children) child.kill("SIGKILL");
  };
  current: BenchServer | null = null;

  private constructor(options: BedOptions, port: number, postgres: PostgresServer | null) {
    this.#options = options;
    this.dir = options.dir ?? mkdtempSync(join(tmpdir(), "svc-soak-data-"));
    this.port = port;
    this.postgres = postgres;
    process.once("exit", this.#abandon);
  }

  static async make(options: BedOptions): Promise<Bed> {
    // Postgres must keep what it acknowledged; otherwise it would be unclear which of the two lost something.
    const postgres = options.engine === "postgres" ? await startPostgres({ fsync: true }) : null;
    return new Bed(options, await freePort(), postgres);
  }

  get url(): string {
    return `${this.#options.args?.includes("--tls-self-signed") ? "https" : "http"}://127.0.0.1:${this.port}`;
  }

  /** Starts the server and waits until it is healthy. `onSpawn` gets the process before that. */
  async start(onSpawn: (child: ChildProcess) => void = () => {}): Promise<BenchServer> {
    this.current = await startServe({
      dataDir: this.dir,
      port: this.port,
      args: ["--dev-license", ...(this.#options.args ?? [])],
      env: { ...(this.postgres ? { SVC_DATABASE_URL: this.postgres.url() } : {}), ...this.#options.env },
      onSpawn: (child) => {
        this.#children.add(child);
        child.once("exit", () => this.#children.delete(child));
        onSpawn(child);
      },
    });
    return this.current;
  }

  /** The running server; fails if it has exited. */
  get alive(): BenchServer {
    const { current } = this;
    insist(current !== null, "the server was not started");
    const { exitCode, signalCode } = current.process;
    insist(
      exitCode === null && signalCode === null,
      () => `the server ended (${exitCode ?? signalCode})\n${tail(current)}`,
    );
    return current;
  }

  async stop(): Promise<void> {
    const server = this.alive;
    const code = await server.stop();
    insist(code === 0, () => `the server stopped with ${code}\n${tail(server)}`);
  }

  /** Runs `svc db check` with the server stopped. */
  async dbCheck(): Promise<void> {
    const place = this.postgres ? ["--database-url", this.postgres.url()] : ["--data-dir", this.dir];
    const { code, text } = await run(["db", "check", ...place], { SVC_DATA_DIR: this.dir });
    insist(code === 0 && text.includes("no problems found"), `svc db check ended with ${code}:\n${text}`);
  }

  /** Compares the agents' log lines with those that they sent. */
  checkLedger(ledgerFile: string): Promise<LedgerCheck> {
    const logs = join(this.dir, "logs");
    const names = existsSync(logs) ? readdirSync(logs) : [];
    return checkLedger(
      ledgerFile,
      names.map((name) => join(logs, name)),
    );
  }

  async dispose(): Promise<void> {
    this.#abandon();
    process.off("exit", this.#abandon);
    await this.postgres?.destroy();
    for (const dir of this.#options.dir === undefined ? [this.dir, this.notes] : [this.notes])
      rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
  }
}

const tail = (server: BenchServer): string => server.log().slice(-3_000);

function run(args: readonly string[], env: Readonly<Record<string, string>>): Promise<{ code: number; text: string }> {
  const settings = { ...cleanEnv(), SVC_KEYRING: "off", SVC_CONFIG_DIR: join(tmpdir(), "svc-soak-none"), ...env };
  return new Promise((resolve) => {
    execFile(process.execPath, [join(root, "bin", "run.js"), ...args], { env: settings }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code ?? 1), text: `${stdout}${stderr}` }),
    );
  });
}

/** Builds dist/ if it is outdated. */
export function build(): Promise<void> {
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [join(root, "scripts", "build.mjs")], (error, stdout, stderr) =>
      error ? reject(new Error(`the build failed:\n${stdout}${stderr}`)) : resolve(),
    );
  });
}
