// The base class of commands that call a server.
import type { Interfaces } from "@oclif/core";
import type { z } from "zod";
import { dryRunOf } from "../api/dry-run.ts";
import type { AnyEndpoint, InputOf, ReplyOf } from "../api/endpoint.ts";
import { issueText, plainIssues } from "../api/issue-text.ts";
import { hasQueryField } from "../api/outline.ts";
import { GITOPS_OVERRIDE, NO_REASON, overrideHeader } from "../api/settings/gitops-mode.ts";
import { ApiClient, type RawCall } from "../client/client.ts";
import { ApiCallError, DryRunNotSupported } from "../client/errors.ts";
import { pathOf } from "../client/requests.ts";
import { isRecord } from "../text/record.ts";
import { type Connection, type ConnectionFlags, resolveConnection } from "./auth/connection.ts";
import { BaseCommand, type Change } from "./base-command.ts";
import { inCommandWords } from "./command-words.ts";
import { CliError, denied, failed, isTokenRefused, tokenRefused, usage } from "./errors.ts";
import { connectionFlags, generalFlags, isNoTeam, outputFlags } from "./flags.ts";
import type { Caller } from "./resolve.ts";
import { wouldNeedApproval } from "./selection.ts";

const defaultLimit = 100;

/** Patch releases are compatible; with a different minor or major version a feature may be missing. */
const gap = (a: string, b: string): boolean =>
  a.split(".").slice(0, 2).join(".") !== b.split(".").slice(0, 2).join(".");

/** Thrown to end a command after its change ran as a dry run. */
class TriedOut extends Error {
  /** Whether the real change would have to be approved by another user. */
  readonly needsApproval: boolean;

  constructor(reply: unknown) {
    super("dry run done");
    this.needsApproval =
      typeof reply === "object" && reply !== null && "approval" in reply && isPending(reply.approval);
  }
}
const isPending = (approval: unknown): boolean =>
  typeof approval === "object" && approval !== null && "state" in approval && approval.state === "pending";

/** The reason to change in GitOps mode what files determine. */
function overrideHeaders(reason: string | undefined): Record<string, string> {
  const text = reason?.trim() ?? "";
  if (text === "") return {};
  const value = overrideHeader(text);
  if (value === null) throw usage(`SVC_GITOPS_OVERRIDE: ${NO_REASON}`, "Example: SVC_GITOPS_OVERRIDE='incident 7'.");
  return { [GITOPS_OVERRIDE]: value };
}

const sqlIn = (body: unknown): string | null => (isRecord(body) && typeof body.query === "string" ? body.query : null);

export abstract class ClientCommand extends BaseCommand {
  static override baseFlags: Interfaces.FlagInput = { ...generalFlags, ...outputFlags, ...connectionFlags };

  /** Aborted when the user interrupts. */
  readonly stop = new AbortController();
  #connection: Promise<Connection> | undefined;
  #client: Promise<ApiClient> | undefined;
  /** Where the token is from that the requests contain, in words; null if they contain none. */
  tokenName: string | null = null;
  #hasNotedVersion = false;
  #listening: (() => void) | undefined;
  /** SQL of the last call; null: it had none. */
  #sentSql: string | null = null;
  #plan: { readonly action: string; readonly target: unknown; readonly changes: readonly Change[] } | null = null;

  /** The server that this run calls; available after `parse`. */
  connection(): Promise<Connection> {
    this.#connection ??= resolveConnection(this.io, this.common as ConnectionFlags);
    return this.#connection;
  }

  /** The API client of this run, signed in if a token is available. */
  client(): Promise<ApiClient> {
    this.#client ??= this.connection().then(async (connection) => {
      const token = await connection.token();
      if (token !== null) this.tokenName = connection.tokenName;
      return this.clientFor(connection, token);
    });
    return this.#client;
  }

  clientFor(connection: Connection, token: string | null, signal = this.stop.signal): ApiClient {
    this.#listen();
    const { io } = this;
    if (token !== null && !/^[\x21-\x7e]*$/.test(token))
      throw usage(
        `${this.tokenName ?? "the token"}: no token has such characters`,
        "Check that it is the whole token, and nothing else.",
      );
    return new ApiClient({
      serverUrl: connection.serverUrl,
      ...(token === null ? {} : { token }),
      userAgent: `svc/${this.config.version}`,
      timeout: connection.timeout,
      tls: { ...(connection.ca === null ? {} : { ca: connection.ca }), insecure: connection.insecure },
      ...(io.send === undefined ? {} : { send: io.send }),
      sleep: (ms, signal) => io.sleep(ms, signal),
      signal,
      dryRun: this.triesOut,
      headers: overrideHeaders(io.env.SVC_GITOPS_OVERRIDE),
      onUnchecked: (what) => this.note(`not checked: ${what}`),
      onServerVersion: (version) => this.#checkVersion(version),
      onRetry: (why, ms) => this.note(`${why}; retrying in ${(ms / 1000).toFixed(1)} s`),
    });
  }

  /** Makes one API call with the client of this run. */
  async call<E extends AnyEndpoint>(
    endpoint: E,
    input: InputOf<E> = {},
    options: Pick<RawCall, "headers" | "onSent"> = {},
  ): Promise<ReplyOf<E>> {
    this.#sentSql = sqlIn(input.body);
    if (this.triesOut && dryRunOf(endpoint) !== false) {
      const reply = await this.tryOut(endpoint, input, options);
      if (this.#plan !== null) throw new TriedOut(reply);
      if (reply !== null) return reply;
      throw failed("this command does not support --dry-run", "Run it without --dry-run.");
    }
    if (endpoint.access !== "none") await this.requireToken();
    return (await this.client()).call(endpoint, input, options);
  }

  /**
   * Makes the next change a dry run on the server. If the server refuses it, the command fails with that error;
   * otherwise the plan is printed.
   */
  trying(action: string, target: unknown, changes: readonly Change[] = []): void {
    this.#plan = { action, target, changes };
  }

  /**
   * Sends one change to the server as a dry run. If the endpoint does not support dry runs, only the request is
   * validated: a message reports that, and the result is null.
   */
  async tryOut<E extends AnyEndpoint>(
    endpoint: E,
    input: InputOf<E> = {},
    options: Pick<RawCall, "headers"> = {},
  ): Promise<ReplyOf<E> | null> {
    this.#sentSql = sqlIn(input.body);
    let why = dryRunOf(endpoint);
    if (typeof why !== "string") {
      if (endpoint.access !== "none") await this.requireToken();
      try {
        return await (await this.client()).call(endpoint, input, options);
      } catch (error) {
        if (!(error instanceof DryRunNotSupported) || error.sent) throw error;
        why = error.message;
      }
    }
    if (endpoint.hasBody) this.validate(endpoint, input.body);
    this.note(`only the request was checked: ${why}`);
    return null;
  }

  /** What an error means for this command, if not what it means for others. */
  explain = (error: Error): Error => error;

  // Names a token that the server refuses. Ends a dry run: prints the plan.
  protected override async catch(thrown: Interfaces.CommandError): Promise<void> {
    const error = this.explain(thrown);
    if (error instanceof ApiCallError && isTokenRefused(error) && this.tokenName !== null)
      throw tokenRefused(this.tokenName, error);
    if (error instanceof ApiCallError)
      throw inCommandWords(error, {
        flags: { ...this.ctor.baseFlags, ...this.ctor.flags },
        args: this.ctor.args,
        values: this.common,
        sql: this.#sentSql,
        isJson: this.format === "json",
      });
    if (!(error instanceof TriedOut) || this.#plan === null) return super.catch(error);
    const { action, target, changes } = this.#plan;
    await this.printPlan(action, target, changes);
    if (error.needsApproval) throw wouldNeedApproval();
  }

  /** Finds a host by id, hostname, uuid or serial number. */
  async host(text: string) {
    return (await import("./resolve.ts")).resolveHost(this.#caller, text);
  }

  /** Finds a team by id or name. */
  async team(text: string) {
    return (await import("./resolve.ts")).resolveTeam(this.#caller, text);
  }

  /** `team` as a callback. */
  readonly findTeam = (text: string) => this.team(text);

  /** The `team_id` of a filter; 0 selects hosts without a team. */
  async teamFilter(text: string | undefined): Promise<{ team_id?: number }> {
    if (text === undefined) return {};
    return { team_id: isNoTeam(text) ? 0 : (await this.team(text)).id };
  }

  /** Team and label of a host filter, by name or id. */
  async hostFilter(flags: { readonly team?: unknown; readonly label?: unknown }) {
    const text = (value: unknown) => (typeof value === "string" ? value : undefined);
    const label = text(flags.label);
    const team = await this.teamFilter(text(flags.team));
    return label === undefined ? team : { ...team, label_id: (await this.label(label)).id };
  }

  /** Finds a label by id or name. */
  async label(text: string) {
    return (await import("./resolve.ts")).resolveLabel(this.#caller, text);
  }

  /** Finds a saved query by id or name: within the team if one is given, otherwise among the global queries. */
  async savedQuery(text: string, team?: string) {
    const teamId = team === undefined ? undefined : (await this.team(team)).id;
    return (await import("./resolve.ts")).resolveQuery(this.#caller, text, teamId);
  }

  /** Finds a pack by id or name. */
  async pack(text: string) {
    return (await import("./resolve.ts")).resolvePack(this.#caller, text);
  }

  /** Finds a user by id, email or name. */
  async user(text: string) {
    return (await import("./resolve.ts")).resolveUser(this.#caller, text);
  }

  readonly #caller: Caller = { call: (endpoint, input) => this.call(endpoint, input) };

  async requireToken(): Promise<void> {
    const { serverUrl, source, token } = await this.connection();
    if ((await token()) !== null) return;
    const address = source === "flag" || source === "environment" ? ` --server-url ${serverUrl}` : "";
    throw denied(`not signed in to ${serverUrl}`, `Sign in with \`svc login${address}\`, or set SVC_API_TOKEN.`);
  }

  /** The rows of a list up to --limit or --all, page by page, with a message if more exist. */
  pages<E extends AnyEndpoint, K extends keyof ReplyOf<E>>(endpoint: E, input: InputOf<E>, key: K) {
    return this.#pages(endpoint, this.#inOrder(endpoint, input), key);
  }

  async *#pages<E extends AnyEndpoint, K extends keyof ReplyOf<E>>(endpoint: E, input: InputOf<E>, key: K) {
    if (endpoint.access !== "none") await this.requireToken();
    const { limit, all } = this.common;
    const most = all === true ? Number.POSITIVE_INFINITY : typeof limit === "number" ? limit : defaultLimit;
    let progress = this.progress("requesting data ...");
    let count = 0;
    try {
      for await (const { rows, more } of (await this.client()).pages(endpoint, input, key, most)) {
        count += rows.length;
        // The caller may print the rows to the same terminal.
        progress.done();
        yield rows;
        if (more) {
          const total = await this.#totalOf(endpoint, input);
          this.remarkOfList(
            total === null
              ? `only the first ${count} are shown; use --limit N or --all for more`
              : `only the first ${count} of ${total} are shown; use --limit N or --all for more`,
          );
        }
        progress = this.progress(`${count} received ...`);
      }
    } finally {
      progress.done();
    }
  }

  /** The total number of rows of a truncated list; null if its endpoint does not count. */
  async #totalOf(endpoint: AnyEndpoint, input: InputOf<AnyEndpoint>): Promise<string | null> {
    if (!hasQueryField(endpoint, "with_count")) return null;
    const query = { ...(input.query as object | undefined), per_page: 1, with_count: true };
    const path = pathOf(endpoint, (input.params ?? {}) as Record<string, unknown>);
    const { status, headers } = await (await this.client()).raw("GET", path, { query });
    const total = status === 200 ? headers.get("x-total-count") : null;
    return total !== null && /^\d+$/.test(total) ? total : null;
  }

  /** The input with the order of --sort, if the server can sort the list; otherwise the rows are sorted as printed. */
  #inOrder<E extends AnyEndpoint>(endpoint: E, input: InputOf<E>): InputOf<E> {
    const { sort } = this;
    if (sort === null || !hasQueryField(endpoint, "order_key")) return input;
    this.isSorted = true;
    const order = { order_key: sort.field, order_direction: sort.isDescending ? "desc" : "asc" };
    return { ...input, query: { ...(input.query as object), ...order } as InputOf<E>["query"] };
  }

  /** All rows of `pages` in one array. */
  async rows<E extends AnyEndpoint, K extends keyof ReplyOf<E>>(endpoint: E, input: InputOf<E>, key: K) {
    const all = [];
    for await (const rows of this.pages(endpoint, input, key)) for (const row of rows) all.push(row);
    return all;
  }

  /** For a dry run: the same schema validation of the body as on the server. */
  validate<E extends AnyEndpoint>(endpoint: E, body: InputOf<E>["body"]): void {
    const { success, error } = endpoint.body.safeParse(body);
    if (success) return;
    const issues: readonly z.core.$ZodIssue[] = plainIssues(error?.issues ?? []);
    throw new CliError(
      "failed",
      "Validation Failed",
      undefined,
      issues.map((issue) => ({ name: issue.path.map(String).join(".") || "base", reason: issueText(issue) })),
    );
  }

  override async beforeJq(): Promise<void> {
    await super.beforeJq();
    this.stop.signal.throwIfAborted();
  }

  #checkVersion(server: string): void {
    if (this.#hasNotedVersion || !gap(server, this.config.version)) return;
    this.#hasNotedVersion = true;
    this.warn(`the server has version ${server}, this client ${this.config.version}: they may not be fully compatible`);
  }

  // The first interrupt aborts the request in flight and lets the command clean up; the second ends the process.
  #listen(): void {
    if (this.#listening || this.io.send) return;
    const interrupt = () => {
      if (this.stop.signal.aborted) {
        this.io.picture(null);
        process.exit(130);
      }
      this.stop.abort(new CliError("interrupted", "interrupted"));
    };
    process.on("SIGINT", interrupt);
    this.#listening = () => process.off("SIGINT", interrupt);
  }

  protected override async finally(error: Error | undefined): Promise<void> {
    this.#listening?.();
    await super.finally(error);
  }
}
