// Combines an endpoint's declaration and a handler to a route: authenticate, authorize, check the tier, validate,
// run.
import type { z } from "zod";
import { acceptedKeys } from "../../../../api/accepted-keys.ts";
import type { Action } from "../../../../api/access.ts";
import { DRY_RUN, DRY_RUN_UNCHECKED, dryRunOf } from "../../../../api/dry-run.ts";
import { type Access, type AnyEndpoint, noParams, type ParsedOf, type ReplyOf } from "../../../../api/endpoint.ts";
import { issueText, jsonType, plainIssues, typeName } from "../../../../api/issue-text.ts";
import { type Context, isPremium } from "../context.ts";
import {
  ApiError,
  authorizationHeaderRequired,
  badRequest,
  cannotDryRun,
  type FieldError,
  forbidden,
  forbiddenFor,
  invalidFields,
  passwordResetRequired,
  premiumRequired,
  tooLarge,
} from "../errors.ts";
import { authorize, maySomewhere } from "../security/access.ts";
import type { Admission } from "./body.ts";
import { dryRun, wantsDryRun } from "./dry-run.ts";
import { withoutNulls } from "./nulls.ts";
import { measured } from "./strangers.ts";
import type { JsonStream, JsonWithBytes } from "./text-stream.ts";
import { checkLicenseRuns } from "./tier.ts";
import { checkReadOnly, checkTokenScope } from "./token-scope.ts";
import { checkKeys } from "./unknown-keys.ts";

/** Additions to a reply: another success status of the endpoint, and headers. */
export interface Reply {
  status: number;
  readonly headers: Record<string, string>;
}

export interface Route {
  readonly endpoint: AnyEndpoint;
  readonly run: (raw: RawInput, ctx: Context, reply: Reply) => Promise<unknown>;
  /** Whether a gate looks for the caller's identity before anything else, also while strangers have no budget. */
  readonly isGated?: boolean;
}

/** Called with the texts of a form that have arrived, before a file of it is read. May throw. */
export type CheckTexts = (texts: Readonly<Record<string, unknown>>) => void;

/** A request before validation. `body` returns undefined if none was sent. */
export interface RawInput {
  readonly params: Record<string, string>;
  readonly query: Record<string, string | string[]>;
  readonly body: (checkTexts: CheckTexts, admission?: Admission) => Promise<unknown>;
}

export type Handler<E extends AnyEndpoint> = (
  input: ParsedOf<E>,
  ctx: Context,
  reply: Reply,
) => Promise<ReplyOf<E> | JsonStream | JsonWithBytes>;

/**
 * How an endpoint without tokens finds out who calls, with little work, before it reads or parses anything else. Without
 * a gate, everybody counts as a stranger.
 */
interface Gate<E extends AnyEndpoint = AnyEndpoint> {
  /**
   * Called before the body is read. Throws where nobody is served, as while a feature is turned off; calls `proved` of a
   * caller whom it knows.
   */
  readonly before?: (ctx: Context, input: Pick<ParsedOf<E>, "params" | "query">) => Promise<void> | void;
  /**
   * Whether the bytes name a host or device that exists. Called for bodies that strangers may not send, and while the
   * budget for strangers is empty: then only those are parsed.
   */
  readonly isNamedBy?: (ctx: Context, bytes: Buffer) => Promise<boolean>;
}

export const route = <E extends AnyEndpoint>(endpoint: E, handle: Handler<E>, gate: Gate<E> = {}): Route => ({
  endpoint,
  isGated: gate.before !== undefined || gate.isNamedBy !== undefined,
  async run(raw, ctx, reply) {
    ctx.cost?.isFor(endpoint.purpose);
    const { isDry, params, query } = charging(ctx, () => readHead(endpoint, raw, ctx));
    await passGate(gate, ctx, { params, query } as ParsedOf<E>);
    const admission = admissionOf(endpoint, gate, ctx);
    const sent = await sentBody(endpoint, raw, (texts) => checkTexts(endpoint, ctx, texts), admission);
    const body = endpoint.hasBody ? measured(ctx, () => parseBody(endpoint, sent)) : undefined;
    checkTeam(endpoint, ctx, body);
    const input = { params, query, body } as ParsedOf<E>;
    if (!isDry && !(dryRunOf(endpoint) === true && (hasDryRun(query) || hasDryRun(body))))
      return measured(ctx, () => handle(input, ctx, reply));
    reply.headers[DRY_RUN] = "true";
    const { value, unchecked } = await dryRun(ctx, (inside) => handle(input, inside, reply));
    if (unchecked.length > 0) reply.headers[DRY_RUN_UNCHECKED] = unchecked.join("; ");
    return value;
  },
});

/** What comes before the gate, and before any cost is admitted. */
function readHead(endpoint: AnyEndpoint, raw: RawInput, ctx: Context) {
  admit(endpoint, ctx);
  const isDry = asksDryRun(endpoint, ctx);
  const params = parsePart(endpoint.params, raw.params, "path");
  const query = parseQuery(endpoint, raw.query, ctx);
  checkTeam(endpoint, ctx, query);
  return { isDry, params, query };
}

/** A refusal costs too. */
function charging<T>({ cost }: Context, work: () => T): T {
  try {
    return work();
  } catch (error) {
    cost?.accept();
    throw error;
  }
}

async function passGate<E extends AnyEndpoint>(
  { before, isNamedBy }: Gate<E>,
  ctx: Context,
  input: Pick<ParsedOf<E>, "params" | "query">,
): Promise<void> {
  try {
    await before?.(ctx, input);
  } catch (error) {
    ctx.cost?.accept();
    throw error;
  }
  if (isNamedBy === undefined) ctx.cost?.admit();
}

function admissionOf<E extends AnyEndpoint>(
  { strangerLimit }: E,
  { isNamedBy }: Gate<E>,
  ctx: Context,
): Admission | undefined {
  const { cost } = ctx;
  if (cost === undefined || cost.isProved) return undefined;
  return {
    strangerLimit,
    async check(bytes, isLarger) {
      // Without a gate, the caller was admitted before the body was read.
      if (isNamedBy !== undefined) {
        const isEmpty = cost.wait() > 0;
        if (isEmpty) cost.examined();
        if ((isEmpty || isLarger) && (await isNamedBy(ctx, bytes))) return;
        cost.admit();
      }
      if (isLarger) throw tooLarge(strangerLimit);
    },
    measure: (work) => cost.measure(work),
    charge: (milliseconds) => cost.charge(milliseconds),
  };
}

/**
 * Whether the header requests a dry run. Endpoints that only read run normally; those that do not support it are
 * refused at once.
 */
function asksDryRun(endpoint: AnyEndpoint, ctx: Context): boolean {
  if (!wantsDryRun(ctx)) return false;
  const can = dryRunOf(endpoint);
  if (typeof can === "string") throw cannotDryRun(can);
  return can;
}

/** Some endpoints also accept it as a parameter or body field. Those without dry runs have another use for the field. */
const hasDryRun = (input: unknown): boolean =>
  typeof input === "object" && input !== null && "dry_run" in input && input.dry_run === true;

/** Whether this caller may use the endpoint at all. The service checks access to the individual objects. */
function admit(endpoint: AnyEndpoint, ctx: Context): void {
  const { access, tier, method } = endpoint;
  // A host is authenticated by its key and sees only its own data, so no role is required.
  if (access !== "none" && ctx.host === undefined) {
    if (ctx.user.kind === "nobody") throw authorizationHeaderRequired();
    checkTokenScope(ctx.user, endpoint);
    if (ctx.user.force_password_reset && access !== "reset") throw passwordResetRequired();
    if (typeof access === "object") checkAction(access, ctx);
    else checkReadOnly(ctx.user, endpoint);
  }
  if (tier !== "premium") return;
  if (!isPremium(ctx)) throw premiumRequired();
  if (method !== "GET" && method !== "HEAD") checkLicenseRuns(ctx);
}

function checkAction({ action, scope, dryRunAction }: Exclude<Access, string>, ctx: Context): void {
  const allows = (candidate: Action) => (scope === "team" || isGlobal(ctx)) && maySomewhere(ctx.user, candidate);
  if (dryRunAction === undefined) {
    if (!allows(action)) throw forbidden();
  } else if (!allows(wantsDryRun(ctx) ? dryRunAction : action))
    throw allows(dryRunAction)
      ? forbiddenFor(`this role may only try it out: send the header ${DRY_RUN}: true`)
      : forbidden();
}

const isGlobal = (ctx: Context): boolean => ctx.user.kind === "service" || ctx.user.global_role !== null;

/**
 * If query or body contain `team_id`, the caller must have the required role on that team (0 and null: no team, which
 * needs a global role).
 */
function checkTeam({ access }: AnyEndpoint, ctx: Context, input: unknown): void {
  if (typeof access !== "object" || access.scope !== "team" || ctx.host !== undefined) return;
  if (typeof input !== "object" || input === null || !("team_id" in input)) return;
  const { team_id: teamId } = input;
  if (typeof teamId === "number") authorize(ctx, access.action, teamId === 0 ? null : teamId);
}

/** Nobody need send a file that is refused because of the team. */
function checkTexts(endpoint: AnyEndpoint, ctx: Context, { team_id: text }: Readonly<Record<string, unknown>>): void {
  const schema = (endpoint.body as z.ZodObject).shape.team_id as z.ZodType | undefined;
  const result = schema?.safeParse(text);
  if (result?.success) checkTeam(endpoint, ctx, { team_id: result.data });
}

function parseQuery(endpoint: AnyEndpoint, raw: Record<string, string | string[]>, ctx: Context): unknown {
  checkKeys("parameter", endpoint, { schema: endpoint.query, value: raw });
  if (endpoint.query === noParams) return {};
  // The last value of a repeated parameter is used; lists are comma-separated.
  const single = Object.fromEntries(
    Object.entries(raw).map(([key, value]) => [key, Array.isArray(value) ? value.at(-1)! : value]),
  );
  const shape = (endpoint.query as z.ZodObject).shape;
  if (!isPremium(ctx))
    for (const [name, schema] of Object.entries(shape))
      if (single[name] !== undefined && premiumOnly(schema as z.ZodType)) throw premiumRequired();
  const query = parsePart(endpoint.query, single, "query") as Record<string, unknown>;
  if ("order_direction" in shape && query.order_key === undefined) {
    if (query.order_direction !== undefined)
      throw badRequest("order_key must be specified with order_direction", "order_key");
    if (query.after !== undefined) throw badRequest("order_key must be specified with after", "order_key");
  }
  return query;
}

/** Set on the schema by `.meta({ premium: true })`, possibly inside wrappers. */
function premiumOnly(schema: z.ZodType): boolean {
  if (schema.meta()?.premium === true) return true;
  const { def } = schema;
  return "innerType" in def && premiumOnly(def.innerType as z.ZodType);
}

/** Validates path and query parameters. Throws 400 and names the parameter. */
function parsePart(schema: z.ZodType, value: Record<string, string>, part: "path" | "query"): unknown {
  if (schema === noParams) return {};
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const errors = result.error.issues.map((issue): FieldError => {
    const name = String(issue.path[0] ?? "base");
    const reason = issue.code === "custom" && issue.message !== "Invalid input" ? issue.message : null;
    const paramText = value[name];
    if (reason && part === "query") return { name, reason };
    return {
      name,
      reason: paramText === undefined ? `Param ${name} is required` : `Invalid ${name}: ${paramText.slice(0, 200)}`,
    };
  });
  throw new ApiError(400, "Bad request", errors);
}

/** Maximum number of errors reported for one body. */
const MOST_ERRORS = 100;

function parseBody(endpoint: AnyEndpoint, value: unknown): unknown {
  if (value === undefined) {
    if (endpoint.body.def.type === "optional") return undefined;
    throw badRequest("Expected JSON Body");
  }
  const { takes } = endpoint;
  if (takes.kind === "raw") return value;
  checkKeys("key", endpoint, { schema: endpoint.body, value });
  const result = endpoint.body.safeParse(withoutNulls(endpoint.body, value), { reportInput: true });
  if (result.success) return result.data;
  const errors = bodyErrors(result.error);
  throw endpoint.strict ? new ApiError(400, "Bad request", errors) : invalidFields(errors);
}

/**
 * The body before validation. An endpoint without a body accepts an empty object, as many clients send one with every
 * request.
 */
async function sentBody(
  endpoint: AnyEndpoint,
  raw: RawInput,
  checkTexts: CheckTexts,
  admission: Admission | undefined,
): Promise<unknown> {
  if (endpoint.hasBody) return raw.body(checkTexts, admission);
  if (endpoint.method === "GET" || endpoint.method === "HEAD" || acceptedKeys(endpoint).body === "any")
    return undefined;
  const value = await raw.body(checkTexts, admission);
  checkKeys("key", endpoint, { schema: noParams, value });
  return undefined;
}

/** Validation errors of a value in the format of the API. */
export const bodyErrors = (error: z.ZodError): FieldError[] =>
  plainIssues(error.issues).slice(0, MOST_ERRORS).map(bodyError);

function bodyError(issue: z.core.$ZodIssue): FieldError {
  const name = issue.path.map(String).join(".") || "base";
  if (issue.code === "unrecognized_keys") {
    const key = [...issue.path.map(String), issue.keys[0]].join(".");
    return { name: key, reason: `unsupported key provided: "${issue.keys[0]}"` };
  }
  if (issue.code === "invalid_type") {
    const missing = issue.input === undefined && issue.message.includes("undefined");
    return {
      name,
      reason: missing
        ? `${name} is required`
        : `invalid value type at '${name}': expected ${typeName(issue.expected)} but got ${jsonType(issue.input)}`,
    };
  }
  // A text of a form has its name in the message, like the field of a query.
  const isNamed = issue.code !== "custom" || issue.message !== "Invalid input" || typeof issue.input !== "string";
  return { name, reason: isNamed ? issueText(issue) : `Invalid ${name}: ${issue.input.slice(0, 200)}` };
}
