// The base of commands that talk to a server.
import type { Interfaces } from "@oclif/core";
import type { AnyEndpoint, InputOf, ReplyOf } from "../api/endpoint.ts";
import { ApiClient, type RawCall } from "../client/client.ts";
import { BaseCommand } from "./base-command.ts";
import { CliError, denied } from "./errors.ts";
import { connectionFlags, generalFlags, outputFlags } from "./flags.ts";
import type { Caller } from "./resolve.ts";
import { type Connection, type ConnectionFlags, resolveConnection } from "./settings.ts";

const defaultLimit = 100;

/** Patch releases fit together; a different minor or major may miss something. */
const gap = (a: string, b: string): boolean =>
  a.split(".").slice(0, 2).join(".") !== b.split(".").slice(0, 2).join(".");

export abstract class ClientCommand extends BaseCommand {
  static override baseFlags: Interfaces.FlagInput = { ...generalFlags, ...outputFlags, ...connectionFlags };

  /** Aborted when the user interrupts. */
  protected readonly stop = new AbortController();
  #connection: Promise<Connection> | undefined;
  #client: Promise<ApiClient> | undefined;
  #toldVersion = false;
  #listening: (() => void) | undefined;

  /** Which server this run talks to; after `parse`. */
  protected connection(): Promise<Connection> {
    this.#connection ??= resolveConnection(this.io, this.common as ConnectionFlags);
    return this.#connection;
  }

  /** The client of this run, signed in where a token is known. */
  protected client(): Promise<ApiClient> {
    this.#client ??= this.connection().then(async (connection) => this.clientFor(connection, await connection.token()));
    return this.#client;
  }

  protected clientFor(connection: Connection, token: string | null, signal = this.stop.signal): ApiClient {
    this.#listen();
    const { io } = this;
    return new ApiClient({
      serverUrl: connection.serverUrl,
      ...(token === null ? {} : { token }),
      userAgent: `svc/${this.config.version}`,
      timeout: connection.timeout,
      tls: { ...(connection.ca === null ? {} : { ca: connection.ca }), insecure: connection.insecure },
      ...(io.send === undefined ? {} : { send: io.send }),
      sleep: (ms, signal) => io.sleep(ms, signal),
      signal,
      onServerVersion: (version) => this.#checkVersion(version),
      onRetry: (why, ms) => this.note(`${why}; trying again in ${(ms / 1000).toFixed(1)} s`),
    });
  }

  /** One call with the client of this run. */
  protected async call<E extends AnyEndpoint>(
    endpoint: E,
    input: InputOf<E> = {},
    options: Pick<RawCall, "headers"> = {},
  ): Promise<ReplyOf<E>> {
    if (endpoint.access !== "none") await this.requireToken();
    return (await this.client()).call(endpoint, input, options);
  }

  /** The host of that id, hostname, uuid or serial number. */
  protected async host(text: string) {
    return (await import("./resolve.ts")).resolveHost(this.#caller, text);
  }

  /** The team of that id or name. */
  protected async team(text: string) {
    return (await import("./resolve.ts")).resolveTeam(this.#caller, text);
  }

  /** As `team`, to be handed on. */
  readonly findTeam = (text: string) => this.team(text);

  /** The `team_id` of a filter: 0 where hosts of no team are meant. */
  protected async teamFilter(text: string | undefined): Promise<{ team_id?: number }> {
    if (text === undefined) return {};
    return { team_id: text === "0" || text === "none" ? 0 : (await this.team(text)).id };
  }

  /** The label of that id or name. */
  protected async label(text: string) {
    return (await import("./resolve.ts")).resolveLabel(this.#caller, text);
  }

  /** The saved query of that id or name: a team's where one is given, else a global one. */
  protected async savedQuery(text: string, team?: string) {
    const teamId = team === undefined ? undefined : (await this.team(team)).id;
    return (await import("./resolve.ts")).resolveQuery(this.#caller, text, teamId);
  }

  /** The pack of that id or name. */
  protected async pack(text: string) {
    return (await import("./resolve.ts")).resolvePack(this.#caller, text);
  }

  /** The user of that id, email or name. */
  protected async user(text: string) {
    return (await import("./resolve.ts")).resolveUser(this.#caller, text);
  }

  readonly #caller: Caller = { call: (endpoint, input) => this.call(endpoint, input) };

  protected async requireToken(): Promise<void> {
    const { serverUrl, token } = await this.connection();
    if ((await token()) !== null) return;
    throw denied(`not signed in to ${serverUrl}`, "Sign in with `svc login`, or set SVC_API_TOKEN.");
  }

  /** The rows of a list as far as --limit and --all go, page by page, and a remark when more exist. */
  protected async *pages<E extends AnyEndpoint, K extends keyof ReplyOf<E>>(endpoint: E, input: InputOf<E>, key: K) {
    if (endpoint.access !== "none") await this.requireToken();
    const { limit, all } = this.common;
    const most = all === true ? Number.POSITIVE_INFINITY : typeof limit === "number" ? limit : defaultLimit;
    let progress = this.progress("asking the server ...");
    let count = 0;
    try {
      for await (const { rows, more } of (await this.client()).pages(endpoint, input, key, most)) {
        count += rows.length;
        // Rows may go to the same terminal now.
        progress.done();
        yield rows;
        if (more) this.note(`the first ${count} are shown, there are more: --limit N or --all`);
        progress = this.progress(`${count} read ...`);
      }
    } finally {
      progress.done();
    }
  }

  /** As `pages`, all at once. */
  protected async rows<E extends AnyEndpoint, K extends keyof ReplyOf<E>>(endpoint: E, input: InputOf<E>, key: K) {
    const all = [];
    for await (const rows of this.pages(endpoint, input, key)) for (const row of rows) all.push(row);
    return all;
  }

  /** The same checks of the body as the server makes by its schema, for a dry run. */
  protected validate<E extends AnyEndpoint>(endpoint: E, body: InputOf<E>["body"]): void {
    const { success, error } = endpoint.body.safeParse(body);
    if (success) return;
    const issues: readonly { path: PropertyKey[]; message: string }[] = error?.issues ?? [];
    throw new CliError(
      "failed",
      "Validation Failed",
      undefined,
      issues.map(({ path, message }) => ({ name: path.map(String).join(".") || "base", reason: message })),
    );
  }

  #checkVersion(server: string): void {
    if (this.#toldVersion || !gap(server, this.config.version)) return;
    this.#toldVersion = true;
    this.warn(`the server is version ${server}, this client ${this.config.version}: some things may not fit together`);
  }

  // The first interrupt ends the request in flight and lets the command clean up; a second one ends the process.
  #listen(): void {
    if (this.#listening || this.io.send) return;
    const interrupt = () => {
      if (this.stop.signal.aborted) process.exit(130);
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
