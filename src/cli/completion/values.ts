// Names for completion, from the cache or the server, within a short time limit.
import type { Send } from "../../client/transport.ts";
import { type Connection, resolveConnection } from "../auth/connection.ts";
import type { Io } from "../io.ts";
import { type CachedValues, CompletionCache, type CompletionRow } from "./cache.ts";

/** Time limit for completion: the user waits at the prompt. */
const PATIENCE_MS = 1000;
/** Maximum number of rows in one request. */
const MAX_ROWS = 200;

interface Kind {
  /** The request path; `start` is the text typed so far. */
  readonly path: (start: string) => string;
  /** Whether the server filters by the typed text, so that another text may find more rows. */
  readonly searches: boolean;
  readonly list: string;
  readonly row: (row: Record<string, unknown>) => { value: unknown; about?: unknown; id?: unknown };
}

const named = ({ name, description, id }: Record<string, unknown>) => ({ value: name, about: description, id });
const search = (path: string) => (start: string) =>
  `${path}${path.includes("?") ? "&" : "?"}per_page=50&query=${encodeURIComponent(start)}`;

const kinds = {
  host: {
    path: search("/hosts?order_key=hostname"),
    searches: true,
    list: "hosts",
    row: ({ hostname, platform, id }) => ({ value: hostname, about: platform, id }),
  },
  team: { path: () => `/teams?per_page=${MAX_ROWS}`, searches: false, list: "teams", row: named },
  label: {
    path: () => "/labels/summary",
    searches: false,
    list: "labels",
    row: ({ name, label_type, id }) => ({ value: name, about: label_type, id }),
  },
  policy: { path: search("/global/policies"), searches: true, list: "policies", row: named },
  query: { path: search("/queries"), searches: true, list: "queries", row: named },
  pack: { path: () => "/packs", searches: false, list: "packs", row: named },
  user: {
    path: search("/users"),
    searches: true,
    list: "users",
    row: ({ email, name, id }) => ({ value: email, about: name, id }),
  },
  invite: {
    path: search("/invites"),
    searches: true,
    list: "invites",
    row: ({ email, name, id }) => ({ value: email, about: name, id }),
  },
  authority: {
    path: () => "/certificate_authorities",
    searches: false,
    list: "certificate_authorities",
    row: ({ name, type, id }) => ({ value: name, about: type, id }),
  },
  job: { path: () => "/jobs", searches: false, list: "jobs", row: named },
} as const satisfies Record<string, Kind>;
export type KindName = keyof typeof kinds;

const plurals: Record<string, KindName> = {
  hosts: "host",
  teams: "team",
  to: "team",
  labels: "label",
  "labels-include-any": "label",
  "labels-include-all": "label",
  "labels-exclude-any": "label",
  policies: "policy",
  queries: "query",
  "certificate-authority": "authority",
};
const byId: Record<string, KindName> = { "label-id": "label", "policy-id": "policy", "query-id": "query" };

/** The kind of object that an argument or flag of this name takes; `id`: its id is completed instead of its name. */
export function valueKind(command: string, name: string, about = ""): { kind: KindName; id: boolean } | null {
  if (command.startsWith("agent:")) return null;
  if (command === "jobs:run" && name === "name") return { kind: "job", id: false };
  // In most commands --query is a search text, or SQL.
  if (name === "query" && about !== "" && !/saved query/i.test(about)) return null;
  if (name === "name") return null;
  const numbered = byId[name];
  if (numbered) return { kind: numbered, id: true };
  const kind = plurals[name] ?? (Object.hasOwn(kinds, name) ? (name as KindName) : undefined);
  return kind ? { kind, id: false } : null;
}

/** Rows whose names may begin with `start`, from the server that the words typed so far select. */
export async function rowsFor(
  kind: KindName,
  start: string,
  flags: { "server-url"?: string; context?: string; "ca-file"?: string; team?: string },
  io: Io,
): Promise<readonly CompletionRow[]> {
  const connection = await resolveConnection(io, flags);
  if (connection.tokenSource === null) return [];
  const { serverUrl, contextName, email } = connection;
  const owner = [serverUrl, contextName, email, io.env.SVC_API_TOKEN ?? null, io.env.SVC_API_TOKEN_FILE ?? null];
  const cache = new CompletionCache(io.env, owner, io.now().getTime());
  const server = new ServerValues(connection, cache, io);
  const scoped = kind === "policy" || kind === "query" ? flags.team : undefined;
  if (scoped === undefined) return server.rows(kinds[kind], start);
  const team = (await server.rows(kinds.team, "")).find(({ value, id }) => value === scoped || String(id) === scoped);
  if (!team) return [];
  const path = kind === "policy" ? `/teams/${team.id}/policies` : `/queries?team_id=${team.id}`;
  return server.rows({ ...kinds[kind], path: search(path) }, start);
}

class ServerValues {
  readonly #connection: Connection;
  readonly #cache: CompletionCache;
  readonly #io: Io;
  readonly #until = AbortSignal.timeout(PATIENCE_MS);

  constructor(connection: Connection, cache: CompletionCache, io: Io) {
    this.#connection = connection;
    this.#cache = cache;
    this.#io = io;
  }

  async rows(kind: Kind, start: string): Promise<readonly CompletionRow[]> {
    const cached = await this.#findCached(kind, start);
    if (cached) return cached.rows ?? [];
    let rows: CompletionRow[] | null = null;
    try {
      rows = await this.#ask(kind, start);
    } finally {
      await this.#cache.put(kind.path(start), rows).catch(() => {});
    }
    return rows;
  }

  /** Cached rows for this text, or for a shorter prefix of it if that result was complete. */
  async #findCached(kind: Kind, start: string): Promise<CachedValues | null> {
    if (!kind.searches) return this.#cache.get(kind.path(start));
    for (let length = start.length; length >= 0; length--) {
      const cached = await this.#cache.get(kind.path(start.slice(0, length)));
      if (cached && (length === start.length || cached.rows === null || cached.rows.length < 50)) return cached;
    }
    return null;
  }

  async #ask(kind: Kind, start: string): Promise<CompletionRow[]> {
    const { ca, insecure, serverUrl } = this.#connection;
    const token = await this.#connection.token();
    if (token === null) return [];
    const send: Send =
      this.#io.send ??
      (await import("../../client/transport.ts")).networkSend({
        timeout: PATIENCE_MS,
        tls: { insecure, ...(ca === null ? {} : { ca }) },
      });
    const reply = await send(`${serverUrl}/api/v1/svc${kind.path(start)}`, {
      method: "GET",
      headers: { accept: "application/json", authorization: `Bearer ${token}` },
      signal: this.#until,
    });
    const text = await reply.text();
    // A caller who may not list these objects gets no names.
    if (reply.status !== 200) return [];
    const body = JSON.parse(text) as Record<string, unknown>;
    const rows = Array.isArray(body[kind.list]) ? (body[kind.list] as Record<string, unknown>[]) : [];
    return rows.slice(0, MAX_ROWS).map((row) => {
      const { value, about, id } = kind.row(row);
      return { value: textOf(value), about: textOf(about).slice(0, 80), id: Number(id) };
    });
  }
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");
