// The built binary as a child process, as users run it.
import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Agent, fetch, type RequestInit, type Response } from "undici";
import { freePort } from "../../test/support/free-port.ts";

export interface BenchServer {
  readonly url: string;
  readonly process: ChildProcess;
  /** A request to the server; with TLS, its self-signed certificate is trusted and verified. */
  send(path: string, init?: RequestInit): Promise<Response>;
  readonly email: string;
  readonly password: string;
  /** Everything written to stderr so far. */
  log(): string;
  /** Everything written to stdout so far. */
  output(): string;
  /** Resident memory in bytes, and CPU seconds used so far (Linux). */
  usage(): { rss: number; cpu: number };
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

const binary = fileURLToPath(new URL("../../bin/run.js", import.meta.url));
export const ADMIN_EMAIL = "admin@example.com";
export const ADMIN_PASSWORD = "correct-horse-battery-1";

/** The environment without the settings of another server on this machine. */
export const cleanEnv = (): Record<string, string | undefined> =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("SVC_")));

export interface ServeOptions {
  readonly dataDir: string;
  readonly port?: number;
  readonly env?: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
  /** False: the first admin is not created. */
  readonly admin?: boolean;
  /** The `run.js` of another build. */
  readonly binary?: string;
  /** Called with the process before it is ready. */
  readonly onSpawn?: (child: ChildProcess) => void;
}

/** `BENCH_NODE_ARGS="--cpu-prof --cpu-prof-dir=/tmp/prof" npm run bench -- enroll` profiles the server. */
const nodeArgs = ({ env }: ServeOptions): string[] =>
  (env?.NODE_ARGS ?? process.env.BENCH_NODE_ARGS ?? "").split(" ").filter((arg) => arg !== "");

export async function startServe(options: ServeOptions): Promise<BenchServer> {
  const port = options.port ?? (await freePort());
  const tls = options.args?.includes("--tls-self-signed");
  const child = spawn(
    process.execPath,
    [...nodeArgs(options), options.binary ?? binary, "serve", ...(options.args ?? [])],
    {
      stdio: ["ignore", "pipe", "pipe"],
      env: {
        ...cleanEnv(),
        SVC_DATA_DIR: options.dataDir,
        SVC_PORT: String(port),
        ...(options.admin === false ? {} : { SVC_ADMIN_EMAIL: ADMIN_EMAIL, SVC_ADMIN_PASSWORD: ADMIN_PASSWORD }),
        SVC_LOG_LEVEL: "warn",
        SVC_LOG_FORMAT: "json",
        // No load balancer has to notice that the server stops.
        SVC_SHUTDOWN_GRACE: "0s",
        ...options.env,
      },
    },
  );
  let log = "";
  child.stderr.on("data", (chunk) => {
    log = (log + chunk).slice(-100_000);
  });
  let output = "";
  child.stdout.on("data", (chunk) => {
    output = (output + chunk).slice(-100_000);
  });
  options.onSpawn?.(child);
  const url = `${tls ? "https" : "http"}://127.0.0.1:${port}`;
  let trusting: Agent | undefined;
  const send = async (path: string, init: RequestInit = {}) => {
    if (tls) trusting ??= new Agent({ connect: { ca: readFileSync(join(options.dataDir, "tls", "cert.pem")) } });
    return fetch(`${url}${path}`, trusting === undefined ? init : { ...init, dispatcher: trusting });
  };
  await ready(send, child, () => log);
  const { pid } = child;
  return {
    url,
    process: child,
    send,
    email: ADMIN_EMAIL,
    password: ADMIN_PASSWORD,
    log: () => log,
    output: () => output,
    usage: () => usageOf(pid!),
    stop: (signal = "SIGTERM") =>
      new Promise((resolve) => {
        if (child.exitCode !== null || child.signalCode !== null) return resolve(child.exitCode);
        child.once("exit", (code) => resolve(code));
        child.kill(signal);
      }),
  };
}

/**
 * Waits until the server is healthy and has created the first admin, so that the first caller can request a token.
 */
async function ready(send: (path: string) => Promise<Response>, child: ChildProcess, log: () => string): Promise<void> {
  const until = Date.now() + 120_000;
  while (Date.now() < until) {
    if (child.exitCode !== null || child.signalCode !== null)
      throw new Error(`serve ended with ${child.exitCode}:\n${log()}`);
    const ok = await send("/healthz").then(
      async (reply) => (await reply.text()) !== "" && reply.ok,
      () => false,
    );
    if (ok) return;
    // Not more often, because each request slows down the start that is measured.
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  throw new Error(`serve was not ready in time:\n${log()}`);
}

const TICKS = 100;

function usageOf(pid: number): { rss: number; cpu: number } {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]!.split(" ");
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return {
    rss: Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) * 1024,
    cpu: (Number(fields[11]) + Number(fields[12])) / TICKS,
  };
}

export type Caller = <T = unknown>(
  method: string,
  path: string,
  body?: unknown,
  headers?: Record<string, string>,
) => Promise<T>;

/** Signs in as the first admin; returns the session's token. */
export async function tokenOf(server: BenchServer): Promise<string> {
  for (let tries = 0; tries < 20; tries++) {
    const reply = await server.send("/api/v1/svc/login", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ email: server.email, password: server.password }),
    });
    if (reply.ok) return ((await reply.json()) as { token: string }).token;
    await reply.text();
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  throw new Error("could not sign in");
}

/** Signs in as the first admin; returns a caller of the API. */
export async function signIn(server: BenchServer): Promise<Caller> {
  const token = await tokenOf(server);
  return async <T>(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
    const reply = await server.send(`/api/v1/svc${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json", ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${await reply.text()}`);
    return (await reply.json()) as T;
  };
}

/** The server's metrics by name. Those for a longest or most value are reset with each reading. */
export async function metricsOf(server: BenchServer): Promise<(name: string) => number> {
  const text = await (await fetch(`${server.url}/metrics`)).text();
  return (name) =>
    Number(
      text
        .split("\n")
        .find((line) => line.startsWith(`${name} `))
        ?.split(" ")
        .at(-1) ?? Number.NaN,
    );
}
