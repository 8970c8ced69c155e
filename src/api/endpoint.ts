import { z } from "zod";
import type { Action } from "./access.ts";
import { type Body, Download, MiB, type Takes } from "./bodies.ts";
import { fullPath, versions } from "./paths.ts";

/** Why requests from agents and devices have no dry run. */
export const OF_AGENTS = "agents and devices act on the reply";

/** A parameter of the query, as the schema describes it. */
export interface QueryField {
  readonly name: string;
  readonly type?: string;
  readonly description?: string;
  readonly options?: readonly string[];
  readonly deprecated?: boolean;
}

export interface Outline {
  readonly query: readonly QueryField[];
  /** Whether the rows can be ordered by id. */
  readonly hasIdOrder: boolean;
  /** Whether the reply contains whether there are more pages. */
  readonly hasMeta: boolean;
}

export const JSON_TYPE = "application/json";
/** RFC 7644, section 8.1. */
export const SCIM = "application/scim+json";
export type MediaType = typeof JSON_TYPE | typeof SCIM;

export type Method = "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE";

/**
 * Who may call. `none`: no token needed. `user`: any signed-in user, for its own data. `reset`: like `user`, and also
 * while a password reset is required. An action with scope `global` needs a global role. With scope `team`, a role on
 * a team may suffice: the route refuses callers without the role on any team and checks a `team_id` in query or body;
 * the service checks the object. With `dryRunAction`, requests with the header for dry runs need the right to that action
 * instead. With `nodeKey`, a host may also call with its node key, for its own data: the
 * handler finds it in `ctx.host`. With `hostSignature`, the same holds for a request without a token that is signed with
 * the identity of a host (HTTP message signature, RFC 9421).
 */
export type Access =
  | "none"
  | "user"
  | "reset"
  | {
      readonly action: Action;
      readonly scope: "global" | "team";
      readonly dryRunAction?: Action;
      readonly nodeKey?: true;
      readonly hostSignature?: true;
    };

/**
 * What a request is for. Sign-ins and enrollments have a reserve each, for while strangers have used up the processor time
 * that they have together.
 */
export type Purpose = "other" | "sign-in" | "enrollment";

export interface Endpoint<P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType, R extends z.ZodType> {
  readonly method: Method;
  /** Relative to `/api/<version>/svc`, with `:name` for parameters. With `root`, relative to `/api/<version>`. */
  readonly path: string;
  /** Other paths of the same endpoint, with the same parameters (names that changed between versions). */
  readonly aliases: readonly string[];
  readonly root: boolean;
  /** Whether `path` and `aliases` are complete, because a protocol of devices defines them. */
  readonly exact: boolean;
  readonly summary: string;
  readonly access: Access;
  readonly tier: "free" | "premium";
  readonly status: number;
  /** Other success statuses that the endpoint may return (202 for work that continues after the reply). */
  readonly otherStatus: readonly number[];
  readonly stability: "stable" | "experimental" | "deprecated";
  readonly params: P;
  readonly query: Q;
  /**
   * Headers that it accepts in addition to those of every request. The service reads them: see `SelectionHeaders`.
   */
  readonly headers: z.ZodObject;
  /** `z.undefined()` if the endpoint takes no body. */
  readonly body: B;
  readonly hasBody: boolean;
  /** Unknown keys and wrong types in the body cause a 400 with specific messages instead of a 422. */
  readonly strict: boolean;
  /** Whether clients may request only the headers of the reply. */
  readonly hasHead: boolean;
  /** Maximum size of the body in bytes. */
  readonly bodyLimit: number;
  /** The body limit for callers who have not proved who they are when the body is read. */
  readonly strangerLimit: number;
  /** What callers without a proved identity want. */
  readonly purpose: Purpose;
  readonly takes: Takes;
  readonly response: R;
  /**
   * The media type of a reply that is not JSON. Its handler returns what `response` is the schema of: a `Content`, a
   * `Streamed` or a `Download`.
   */
  readonly produces: string | null;
  /** The media type of JSON, which decides the form of errors too (`core/http/error-forms.ts`). */
  readonly mediaType: MediaType;
  /**
   * Whether the endpoint supports dry runs, see `dry-run.ts`. A text is the reason why not; null means that it
   * depends on the method.
   */
  readonly dryRun: true | string | null;
  /** Whether the reply may take minutes, because the server waits for a host, or downloads a file, before it replies. */
  readonly isSlow: boolean;
  /**
   * Whether the reply contains a key, a password or a link with which its reader can do more than read. API tokens may
   * call it only if they name it: no pattern with `*` does.
   */
  readonly reveals: boolean;
  /** What `outlineOf` returns, where the schemas have been replaced by it. */
  readonly outline?: Outline;
}

// biome-ignore lint/suspicious/noExplicitAny: an endpoint of any shape, as a bound only
export type AnyEndpoint = Endpoint<any, any, any, any>;

type EndpointInput<P, Q, B extends z.ZodType, R> = {
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
  /** A schema is JSON. */
  body?: B | Body<B>;
  strict?: boolean;
  bodyLimit?: number;
  strangerLimit?: number;
  purpose?: Purpose;
  hasHead?: boolean;
  aliases?: string[];
  produces?: string;
  mediaType?: MediaType;
  dryRun?: true | string;
  isSlow?: boolean;
  reveals?: boolean;
};

/** For endpoints without parameters; what is sent anyway is ignored. */
export const noParams = z.object({});
const noBody = z.undefined();
const JSON_LIMIT = 5 * MiB;
/** Messages of devices that enroll, sign-ins and the like are a few kilobytes. */
export const STRANGER_LIMIT = 64 * 1024;

/**
 * Declares one endpoint. Routing, validation, authorization, documentation, client and tests all use this
 * declaration.
 */
export function endpoint<
  R extends z.ZodType,
  P extends z.ZodType = typeof noParams,
  Q extends z.ZodType = typeof noParams,
  B extends z.ZodType = typeof noBody,
>(input: EndpointInput<P, Q, B, R>): Endpoint<P, Q, B, R> {
  const { takes, schema, limit } = bodyOf(input.body);
  const bodyLimit = input.bodyLimit ?? limit ?? JSON_LIMIT;
  if (takes.kind === "multipart" && input.access === "none")
    throw new Error(`${input.path}: files are stored only for callers who have signed in`);
  return {
    root: false,
    exact: false,
    tier: "free",
    status: 200,
    otherStatus: isDownload(input) ? [206] : [],
    stability: "stable",
    // A missing or wrong part makes the request malformed, as a missing file does.
    strict: takes.kind === "multipart",
    hasHead: isDownload(input),
    aliases: [],
    produces: null,
    mediaType: JSON_TYPE,
    dryRun: null,
    isSlow: false,
    reveals: false,
    purpose: "other",
    headers: noParams,
    strangerLimit: input.access === "none" ? Math.min(bodyLimit, STRANGER_LIMIT) : bodyLimit,
    ...input,
    bodyLimit,
    takes,
    hasBody: input.body !== undefined,
    params: (input.params ?? noParams) as P,
    query: (input.query ?? noParams) as Q,
    body: (schema ?? noBody) as B,
  };
}

function bodyOf<B extends z.ZodType>(body: B | Body<B> | undefined): { takes: Takes; schema?: B; limit?: number } {
  if (body === undefined) return { takes: { kind: "json" } };
  return "takes" in body ? body : { takes: { kind: "json" }, schema: body };
}

/** Whether clients may request a part of the reply. */
export const isDownload = ({ response }: Pick<AnyEndpoint, "response">): boolean => response === Download;

/**
 * Declares an endpoint of a protocol of agents or devices (`protocols` in `all.ts`), at its exact paths. A path that
 * serves several methods has an endpoint for each. Requests need no token: the handler checks the caller.
 */
export function protocolEndpoint<
  R extends z.ZodType,
  P extends z.ZodType = typeof noParams,
  Q extends z.ZodType = typeof noParams,
  B extends z.ZodType = typeof noBody,
>({
  paths: [path, ...aliases],
  ...input
}: Omit<EndpointInput<P, Q, B, R>, "path" | "aliases" | "root" | "access" | "dryRun"> & {
  paths: readonly [string, ...string[]];
}): Endpoint<P, Q, B, R> {
  return { ...endpoint<R, P, Q, B>({ ...input, access: "none", path, aliases, dryRun: OF_AGENTS }), exact: true };
}

/** The paths of a protocol that stand among those of the API: the current version first. */
export const apiPaths = (path: string): [string, ...string[]] => [
  fullPath({ root: false, path }),
  ...versions.slice(1).map((version) => fullPath({ root: false, path }, version)),
];

/** The caller's input: path parameters, query and body, each omitted if the endpoint takes none. */
export type InputOf<E extends AnyEndpoint> = {
  params?: z.input<E["params"]>;
  query?: z.input<E["query"]>;
  body?: z.input<E["body"]>;
};
/** The validated input of a handler. */
export type ParsedOf<E extends AnyEndpoint> = {
  params: z.output<E["params"]>;
  query: z.output<E["query"]>;
  body: z.output<E["body"]>;
};
export type ReplyOf<E extends AnyEndpoint> = z.output<E["response"]>;
