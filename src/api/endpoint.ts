import { z } from "zod";
import type { Action } from "./access.ts";

export type Method = "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE";

/**
 * Who may call. `none`: no token. `user`: any signed-in user, about itself. `reset`: as `user`, and also while a password
 * reset is required. An action with scope `global` needs a global role; with scope `team` the role may be held on a team:
 * the route refuses callers who hold it nowhere and checks a `team_id` given in query or body, the service checks the object.
 * With `nodeKey`, a host may call with its node key too, about itself: the handler finds it in `ctx.host`.
 */
export type Access =
  | "none"
  | "user"
  | "reset"
  | { readonly action: Action; readonly scope: "global" | "team"; readonly nodeKey?: true };

export interface Endpoint<P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType, R extends z.ZodType> {
  readonly method: Method;
  /** Below `/api/<version>/svc`, with `:name` for parameters. With `root`, below `/api/<version>`. */
  readonly path: string;
  /** Other paths that answer the same, with the same parameters (names that moved between versions). */
  readonly aliases: readonly string[];
  readonly root: boolean;
  readonly summary: string;
  readonly access: Access;
  readonly tier: "free" | "premium";
  readonly status: number;
  /** Other success statuses that the endpoint may answer (202 for work that goes on). */
  readonly otherStatus: readonly number[];
  readonly stability: "stable" | "experimental" | "deprecated";
  readonly params: P;
  readonly query: Q;
  /** Headers that it takes beside those of every request. The service reads them: see `SelectionHeaders`. */
  readonly headers: z.ZodObject;
  /** `undefined` schema (`z.undefined()`) where the endpoint takes no body. */
  readonly body: B;
  readonly hasBody: boolean;
  /** Unknown keys and wrong types in the body are 400 with the strict endpoints' texts, instead of 422. */
  readonly strict: boolean;
  /** Bytes of body at most. */
  readonly bodyLimit: number;
  /** `form`: also what a page's form posts, other sites' pages included; each field once, as text. */
  readonly accepts: "json" | "form";
  readonly response: R;
  /** The media type of a reply that is no JSON; its handler gives a `Streamed`, and `response` is that schema. */
  readonly produces: string | null;
}

/** A reply that is no JSON: bytes as they come. When the caller goes away, `body` is cancelled. */
export interface Streamed {
  readonly body: ReadableStream<Uint8Array>;
  readonly headers: Readonly<Record<string, string>> | Headers;
}
export const Streamed = z.custom<Streamed>(
  (value) => typeof value === "object" && value !== null && "body" in value && value.body instanceof ReadableStream,
);

// biome-ignore lint/suspicious/noExplicitAny: an endpoint of any shape, as a bound only
export type AnyEndpoint = Endpoint<any, any, any, any>;

type Given<P, Q, B, R> = {
  method: Method;
  path: string;
  summary: string;
  access: Access;
  response: R;
  root?: boolean;
  tier?: "free" | "premium";
  status?: number;
  otherStatus?: number[];
  stability?: "stable" | "experimental" | "deprecated";
  params?: P;
  query?: Q;
  headers?: z.ZodObject;
  body?: B;
  strict?: boolean;
  bodyLimit?: number;
  accepts?: "json" | "form";
  aliases?: string[];
  produces?: string;
};

const noParams = z.object({});
const noBody = z.undefined();
const MiB = 1024 * 1024;

/** Declares one endpoint: routing, validation, authorization, documentation, client and tests all read this. */
export function endpoint<
  R extends z.ZodType,
  P extends z.ZodType = typeof noParams,
  Q extends z.ZodType = typeof noParams,
  B extends z.ZodType = typeof noBody,
>(given: Given<P, Q, B, R>): Endpoint<P, Q, B, R> {
  return {
    root: false,
    tier: "free",
    status: 200,
    otherStatus: [],
    stability: "stable",
    strict: false,
    bodyLimit: 5 * MiB,
    accepts: "json",
    aliases: [],
    produces: null,
    headers: noParams,
    ...given,
    hasBody: given.body !== undefined,
    params: (given.params ?? noParams) as P,
    query: (given.query ?? noParams) as Q,
    body: (given.body ?? noBody) as B,
  };
}

/** What a caller gives: path parameters, query and body, each left out where the endpoint takes none. */
export type InputOf<E extends AnyEndpoint> = {
  params?: z.input<E["params"]>;
  query?: z.input<E["query"]>;
  body?: z.input<E["body"]>;
};
/** What a handler gets, parsed. */
export type ParsedOf<E extends AnyEndpoint> = {
  params: z.output<E["params"]>;
  query: z.output<E["query"]>;
  body: z.output<E["body"]>;
};
export type ReplyOf<E extends AnyEndpoint> = z.output<E["response"]>;

export const versions = ["v1", "2022-04", "latest"] as const;

/** Every path that answers for the endpoint. What is below no `svc` answers without a version too. */
export const servedPaths = (endpoint: AnyEndpoint): string[] => [
  ...versions.flatMap((version) =>
    [endpoint.path, ...endpoint.aliases].map((path) => fullPath({ root: endpoint.root, path }, version)),
  ),
  ...(endpoint.root ? [`/api${endpoint.path}`] : []),
];

/** The path as served under one version, e.g. `/api/v1/svc/hosts/:id`. */
export const fullPath = (endpoint: Pick<AnyEndpoint, "path" | "root">, version: string = "v1"): string =>
  endpoint.root ? `/api/${version}${endpoint.path}` : `/api/${version}/svc${endpoint.path}`;
