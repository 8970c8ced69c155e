// The real app on a real embedded store, without a socket.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Logger, pino } from "pino";
import { allEndpoints } from "../../src/api/all.ts";
import { fullPath } from "../../src/api/paths.ts";
import type { License } from "../../src/api/settings/app-config.ts";
import { createApp, type MoreEndpoints } from "../../src/server/app.ts";
import { agentProfileKeeper } from "../../src/server/devices/apple/agent-profile/keep.ts";
import { profileReconciler } from "../../src/server/devices/profiles/part.ts";
import type { Agent } from "../../src/server/edge/agent/agent.ts";
import { inventorySources } from "../../src/server/edge/agent/ingest/sources.ts";
import { extensions } from "../../src/server/extensions.ts";
import { startFeatures } from "../../src/server/features.ts";
import type { InventorySource } from "../../src/server/hosts/hosts/inventory/source.ts";
import type { Clock } from "../../src/server/platform/core/clock.ts";
import type { Services } from "../../src/server/platform/core/context.ts";
import { Extensions, implementedBy } from "../../src/server/platform/core/extensions.ts";
import { createMetrics } from "../../src/server/platform/core/logging/metrics.ts";
import { systemRandom } from "../../src/server/platform/core/random.ts";
import { withRunning } from "../../src/server/platform/core/running.ts";
import { Settings, type SettingsInput } from "../../src/server/platform/core/settings/settings.ts";
import type { ServerStore } from "../../src/server/platform/core/tables.ts";
import type { Blobs } from "../../src/server/platform/store/blobs/blobs.ts";
import { fileBlobs } from "../../src/server/platform/store/blobs/files.ts";
import { createCipher } from "../../src/server/platform/store/cipher.ts";
import { openLowdb } from "../../src/server/platform/store/lowdb/open.ts";
import { openPostgres } from "../../src/server/platform/store/postgres/open.ts";
import { createConfigReader } from "../../src/server/settings/app-config/service.ts";
import { tables } from "../../src/server/tables.ts";
import { afterEveryTest } from "./ends.ts";
import { formOf, takesForm } from "./forms.ts";
import { emptyDatabase, giveBack } from "./postgres.ts";

/** A clock that stands still until it is advanced. */
export class TestClock implements Clock {
  #now: number;

  constructor(start = Date.parse("2026-03-01T12:00:00.000Z")) {
    this.#now = start;
  }
  now(): number {
    return this.#now;
  }
  iso(): string {
    return new Date(this.#now).toISOString();
  }
  advance(milliseconds: number): void {
    this.#now += milliseconds;
  }
  /** Sleeping takes no time: the clock is advanced immediately. */
  async sleep(milliseconds: number): Promise<void> {
    this.#now += milliseconds;
  }
}

export interface StartOptions {
  engine?: "lowdb" | "postgres";
  settings?: SettingsInput;
  tier?: "free" | "premium";
  /** Receives what the server logs; otherwise that is dropped. */
  log?: Logger;
  /** For a whole file or block of tests: it stays open until `close`. */
  shared?: boolean;
  blobs?: Blobs;
  /** Endpoints that only the test has. */
  more?: Partial<MoreEndpoints>;
  /** Macs get the profile that configures their agent. Without it, tests need not count it among the profiles of Macs. */
  agentProfile?: boolean;
  /** Sources of inventory beside those of the server. */
  inventory?: readonly InventorySource[];
}

export interface Caller {
  request(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Response>;
  get(path: string, headers?: Record<string, string>): Promise<Response>;
  post(path: string, body?: unknown): Promise<Response>;
  patch(path: string, body?: unknown): Promise<Response>;
  delete(path: string, body?: unknown): Promise<Response>;
}

export interface TestApp extends Caller {
  readonly services: Services;
  readonly store: ServerStore;
  readonly clock: TestClock;
  readonly agent: Agent;
  /** URL of the Postgres store; null with the embedded one. */
  readonly databaseUrl: string | null;
  /** The first admin's token, which the app's own calls use. */
  readonly token: string;
  /** Calls with another token, or none. */
  as(token: string | null): Caller;
  /** A raw request, path from the root. */
  raw(path: string, init?: RequestInit): Promise<Response>;
  close(): Promise<void>;
}

export const ADMIN = { name: "Ada Admin", email: "ada@example.com", password: "correct-horse-battery-1" };

const open = new Set<TestApp>();
afterEveryTest(async () => {
  for (const app of open) await app.close();
});

/** Starts an app with its first admin signed in; it is closed after the test. */
export async function startApp(options: StartOptions = {}): Promise<TestApp> {
  const dir = await mkdtemp(join(tmpdir(), "svc-test-"));
  const cipher = createCipher(Buffer.alloc(32, 7));
  const log = options.log ?? pino({ level: "silent" });
  const database = options.engine === "postgres" ? await emptyDatabase() : null;
  const store = database
    ? await openPostgres({ tables, url: database.url, cipher, log, create: true, poolSize: 4 })
    : await openLowdb({ tables, dir: join(dir, "db"), cipher, log, frozen: true });
  const clock = new TestClock();
  const license: License =
    options.tier === "free"
      ? { tier: "free", expiration: "2100-01-01T00:00:00Z" }
      : { tier: "premium", expiration: "2100-01-01T00:00:00Z", organization: "test", device_count: 100_000 };
  // Hosts in tests that are not about live queries do not answer them, so the waiting time is short.
  const settings = Settings.parse({
    data_dir: dir,
    result_log: "none",
    status_log: "none",
    live_query_rest_period: "500ms",
    // Trackers in tests do not exist.
    check_integrations: false,
    // Mail servers in tests are on this machine, under this name.
    outbound_allow: ["localhost"],
    ...options.settings,
  });
  const services = withRunning({
    settings,
    store,
    blobs: options.blobs ?? fileBlobs(join(dir, "blobs")),
    clock,
    random: systemRandom,
    log,
    metrics: createMetrics(),
    license,
    config: await createConfigReader(store),
    setupToken: "setup-token-of-tests",
    extensions: new Extensions([
      ...extensions.lists,
      implementedBy(inventorySources, ...(options.inventory ?? []), ...extensions.of(inventorySources)),
    ]),
    dryRun: null,
  });
  const features = await startFeatures(services);
  // At its start, a server compares all profiles with their hosts: not while the test makes some.
  await services.running.of(profileReconciler).run();
  if (!options.agentProfile) await services.running.of(agentProfileKeeper).stop();
  const app = createApp(services, features, { routes: [], protocols: [], ...options.more });

  const send = async (
    token: string | null,
    method: string,
    path: string,
    body?: unknown,
    more: Record<string, string> = {},
  ) => {
    const headers: Record<string, string> = {
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...more,
    };
    const at = path.startsWith("/api/") ? path : `/api/v1/svc${path}`;
    const isForm = typeof body === "object" && body !== null && takesForm(method, at);
    const hasType = Object.keys(headers).some((name) => name.toLowerCase() === "content-type");
    // The type of a form contains its boundary.
    const sent = body instanceof FormData ? body : isForm && !hasType ? formOf(body) : undefined;
    if (body !== undefined && sent === undefined && !hasType) headers["content-type"] = "application/json";
    const init = {
      method,
      headers,
      ...(body === undefined ? {} : { body: sent ?? (typeof body === "string" ? body : JSON.stringify(body)) }),
    };
    const response = await app.request(at, init);
    await checkReply(method, path, response);
    return response;
  };
  const caller = (token: string | null): Caller => ({
    request: (method, path, body, headers) => send(token, method, path, body, headers),
    get: (path, headers) => send(token, "GET", path, undefined, headers),
    post: (path, body) => send(token, "POST", path, body),
    patch: (path, body) => send(token, "PATCH", path, body),
    delete: (path, body) => send(token, "DELETE", path, body),
  });

  const setup = await app.request("/api/v1/setup", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ admin: ADMIN, org_info: { org_name: "Test" }, server_url: "https://svc.example.com" }),
  });
  if (setup.status !== 200) throw new Error(`setup failed: ${await setup.text()}`);
  const { token } = (await setup.json()) as { token: string };

  let closed = false;
  const t: TestApp = {
    ...caller(token),
    services,
    store,
    clock,
    agent: features.agent,
    databaseUrl: database?.url ?? null,
    token,
    as: caller,
    raw: async (path, init) => app.request(path, init),
    async close() {
      open.delete(t);
      if (closed) return;
      closed = true;
      await features.stop();
      await store.close();
      if (database) await giveBack(database);
      await rm(dir, { recursive: true, force: true });
    },
  };
  if (!options.shared) open.add(t);
  return t;
}

/** Every success reply of a known endpoint must match its declared schema, without additional keys. */
async function checkReply(method: string, path: string, response: Response): Promise<void> {
  if (!response.ok || !response.headers.get("content-type")?.includes("json")) return;
  const pathname = path.split("?")[0]!.replace(/^\/api\/[^/]+\/svc/, "");
  const found = declared(method, pathname);
  if (!found || found.endpoint.produces !== null) return;
  const body: unknown = await response.clone().json();
  const result = found.endpoint.response.safeParse(body);
  if (!result.success)
    throw new Error(
      `${method} ${path}: the reply does not fit ${found.name}: ${result.error.message}\n${JSON.stringify(body).slice(0, 2000)}`,
    );
  const extra = extraKeys(body, result.data, "");
  if (extra.length > 0)
    throw new Error(`${method} ${path}: the reply of ${found.name} has undeclared keys: ${extra.join(", ")}`);
}

const literal = new Map<string, (typeof allEndpoints)[number]>();
const withParams = new Map<string, { parts: readonly string[]; one: (typeof allEndpoints)[number] }[]>();
for (const one of allEndpoints) {
  const template = one.endpoint.root ? fullPath(one.endpoint) : one.endpoint.path;
  const parts = template.split("/");
  if (!template.includes(":")) literal.set(`${one.endpoint.method} ${template}`, one);
  const alike = `${one.endpoint.method} ${parts.length}`;
  if (template.includes(":")) withParams.set(alike, [...(withParams.get(alike) ?? []), { parts, one }]);
}
const literalPaths = new Set([...literal.keys()].map((key) => key.slice(key.indexOf(" ") + 1)));

/** The endpoint of the request. Literal paths take precedence over parameters, as in the router. */
function declared(method: string, path: string): (typeof allEndpoints)[number] | undefined {
  if (literalPaths.has(path)) return literal.get(`${method} ${path}`);
  const have = path.split("/");
  const matches = (want: readonly string[]) => want.every((part, i) => part.startsWith(":") || part === have[i]);
  return withParams.get(`${method} ${have.length}`)?.find(({ parts }) => matches(parts))?.one;
}

function extraKeys(value: unknown, kept: unknown, at: string): string[] {
  if (Array.isArray(value)) return value.flatMap((item, i) => extraKeys(item, (kept as unknown[])[i], `${at}[]`));
  if (typeof value !== "object" || value === null || typeof kept !== "object" || kept === null) return [];
  return Object.entries(value).flatMap(([key, item]) =>
    key in kept ? extraKeys(item, (kept as Record<string, unknown>)[key], `${at}.${key}`) : [`${at}.${key}`],
  );
}
