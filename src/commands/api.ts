import * as Flags from "@oclif/core/flags";
import type { z } from "zod";
import { DRY_RUN } from "../api/dry-run.ts";
import type { AnyEndpoint } from "../api/endpoint.ts";
import { ClientCommand } from "../cli/client-command.ts";
import { failed, usage } from "../cli/errors.ts";
import { parseValue, readValue } from "../cli/files/input.ts";
import { args, connectionFlags, generalFlags, outputFlags } from "../cli/flags.ts";
import { selectOf } from "../cli/output/output.ts";
import { fileText } from "../cli/output/terminal.ts";
import type { RawReply } from "../client/client.ts";
import { ApiCallError, apiCallError, DryRunNotSupported } from "../client/errors.ts";
import { isRecord } from "../text/record.ts";

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"];
type Json = Record<string, unknown>;

export default class Api extends ClientCommand {
  static override summary = "Call any endpoint of the API.";
  static override description =
    "PATH is a path of the API reference (/hosts), or a full path that begins with /api/. -F sets a query parameter of a GET request, and otherwise a field of the " +
    "JSON body: true, false, null, numbers and @FILE are interpreted, anything else is text. --paginate reads all pages of a list " +
    "into one document.";
  static override enableJsonFlag = false;
  static override baseFlags = { ...generalFlags, ...connectionFlags };
  static override args = {
    method: args.required("GET, POST, PUT, PATCH or DELETE; GET if only a path that begins with / is given"),
    path: args.optional("path of the endpoint"),
  };
  static override flags = {
    field: Flags.string({
      char: "F",
      summary: "Field or query parameter; repeatable.",
      multiple: true,
      multipleNonGreedy: true,
      helpValue: "K=V",
    }),
    header: Flags.string({
      char: "H",
      summary: "Header of the request; repeatable.",
      multiple: true,
      multipleNonGreedy: true,
      helpValue: "'NAME: VALUE'",
    }),
    input: Flags.string({ summary: "Body, JSON or YAML; - is stdin.", helpValue: "FILE" }),
    paginate: Flags.boolean({ summary: "Read all pages (GET only)." }),
    jq: outputFlags.jq,
    "dry-run": Flags.boolean({
      summary:
        "Print the request and send it as a dry run: the server checks it and changes nothing. --jq applies to its reply.",
    }),
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %> GET /hosts -F status=online --paginate",
    "<%= config.bin %> <%= command.id %> /hosts/1",
    "<%= config.bin %> <%= command.id %> PATCH /config -F org_info.org_name=Example",
  ];

  #headers: Record<string, string> = {};

  async run() {
    const { args: words, flags } = await this.parse(Api);
    const target = { method: words.path === undefined ? "GET" : words.method, path: words.path ?? words.method };
    if (words.path === undefined && !target.path.startsWith("/"))
      throw usage("PATH is required", "Example: svc api GET /hosts.");
    const method = target.method.toUpperCase();
    if (!methods.includes(method))
      throw usage(`${target.method} is not a supported method`, `Methods: ${methods.join(", ")}`);
    if (flags.paginate && method !== "GET") throw usage("--paginate is for GET only");
    const path = apiPath(target.path);
    const fields = await this.#fields(flags.field ?? []);
    if (method === "GET" && flags.input !== undefined) throw usage("--input: GET takes no body");
    this.#headers = headersOf(flags.header ?? []);
    if (flags.paginate) return this.#paginate(path, fields);
    const base = flags.input === undefined ? undefined : await readValue(this.io, flags.input);
    const body = method === "GET" ? undefined : mergeBody(base, fields);
    if (flags["dry-run"]) {
      const request = { method, path, ...(method === "GET" ? { query: fields } : { body }) };
      const reply = method === "GET" ? {} : await this.#tried(method, path, body);
      return this.#print(
        pretty(
          JSON.stringify(this.common.jq === undefined || !("reply" in reply) ? { ...request, ...reply } : reply.reply),
        ),
      );
    }
    const reply = await this.#replyTo(method, path, method === "GET" ? fields : {}, body);
    if (this.common.jq !== undefined && !parses(reply.text)) throw failed("--jq: the reply is not JSON");
    if (this.common.jq !== undefined || isJson(reply)) return this.#print(pretty(reply.text));
    // Files and pipes get the bytes unchanged.
    const bytes = reply.bytes ?? new Uint8Array();
    if (!this.io.tty.stdout) return this.io.outBytes(bytes);
    await this.write(pretty(fileText(bytes)));
  }

  /** Prints what the server would reply, or a message if the request cannot run as a dry run. */
  async #tried(method: string, path: string, body: unknown): Promise<{ reply?: unknown }> {
    try {
      return { reply: JSON.parse(await this.#sendRequest(method, path, {}, body)) };
    } catch (error) {
      const why =
        error instanceof ApiCallError && error.errors[0]?.name === DRY_RUN
          ? error.errors[0].reason
          : error instanceof DryRunNotSupported && !error.sent
            ? error.message
            : null;
      if (why === null) throw error;
      this.note(`no dry run: ${why}`);
      return {};
    }
  }

  async #print(text: string): Promise<void> {
    const select = await selectOf({
      format: "json",
      ...(typeof this.common.jq === "string" ? { jq: this.common.jq } : {}),
      beforeJq: () => this.beforeJq(),
    });
    await this.write(select ? await select(text) : text);
  }

  async #replyTo(method: string, path: string, query: Json, body?: unknown): Promise<RawReply> {
    const client = await this.client();
    const reply = await client.raw(method, path, { query, body, headers: this.#headers, wantsBytes: true });
    if (reply.status < 200 || reply.status > 299)
      throw apiCallError(
        reply.status,
        reply.headers,
        reply.text,
        reply.status === 403 ? await endpointAt(method, path) : undefined,
      );
    return reply;
  }

  async #sendRequest(method: string, path: string, query: Json, body?: unknown): Promise<string> {
    return pretty((await this.#replyTo(method, path, query, body)).text);
  }

  async #paginate(path: string, fields: Json): Promise<void> {
    const endpoint = await endpointAt("GET", path);
    // A list without paging is complete, and does not know these parameters.
    if (endpoint !== undefined && !("page" in (endpoint.query as z.ZodObject).shape)) {
      const { per_page: _, page: __, ...others } = fields;
      return this.#print(await this.#sendRequest("GET", path, others));
    }
    const perPage = Number(fields.per_page ?? 500);
    const whole: Json = {};
    let before = "";
    for (let page = 0; ; page++) {
      const text = await this.#sendRequest("GET", path, { ...fields, per_page: perPage, page });
      // A list without paging returns the same reply for every page.
      if (text === before) break;
      before = text;
      const reply: unknown = JSON.parse(text);
      if (!isRecord(reply)) throw usage(`${path} is not a list`);
      for (const [key, value] of Object.entries(reply)) {
        const collected = whole[key];
        whole[key] = Array.isArray(collected) && Array.isArray(value) ? [...collected, ...value] : value;
      }
      const full = Object.values(reply).some((value) => Array.isArray(value) && value.length >= perPage);
      if (isRecord(reply.meta) ? reply.meta.has_next_results !== true : !full) break;
    }
    if (isRecord(whole.meta)) whole.meta = { has_next_results: false, has_previous_results: false };
    await this.#print(pretty(JSON.stringify(whole)));
  }

  async #fields(pairs: readonly string[]): Promise<Json> {
    // Without a prototype, so that a field __proto__ is a field like any other.
    const fields: Json = Object.create(null);
    for (const pair of pairs) {
      const at = pair.indexOf("=");
      if (at <= 0) throw usage(`-F ${pair} is not NAME=VALUE`);
      fields[pair.slice(0, at)] = await parseValue(this.io, pair.slice(at + 1), "-F");
    }
    return fields;
  }
}

/** `a.b=1` sets a field inside an object. */
function mergeBody(base: unknown, fields: Json): unknown {
  if (Object.keys(fields).length === 0) return base;
  if (base !== undefined && !isRecord(base)) throw usage("-F: the body in --input is not an object");
  const body: Json = structuredClone(base ?? {});
  for (const [path, value] of Object.entries(fields)) {
    const keys = path.split(".");
    if (keys.includes("__proto__")) throw usage(`-F ${path} is not a valid field`);
    const last = keys.pop() ?? path;
    let at = body;
    for (const key of keys) {
      const next = at[key];
      at[key] = isRecord(next) ? next : {};
      at = at[key] as Json;
    }
    at[last] = value;
  }
  return body;
}

/** Headers that the client sets itself cannot be overridden. */
const ownHeaders: ReadonlySet<string> = new Set(["accept", "authorization", "content-type", "user-agent"]);

function headersOf(lines: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const text of lines) {
    const [, name = "", value = ""] = /^([\w-]+):\s*([\t\x20-\x7e]*)$/.exec(text) ?? [];
    if (name === "" || ownHeaders.has(name.toLowerCase())) throw usage(`-H ${text} is not a header that can be set`);
    headers[name.toLowerCase()] = value.trim();
  }
  return headers;
}

function apiPath(text: string): string {
  const path = text.startsWith("/") ? text : `/${text}`;
  if (path.startsWith("//") || path.includes("#")) throw usage(`${text} is not a path`);
  return path.startsWith("/api/") || path === "/healthz" || path === "/metrics" ? path : `/api/v1/svc${path}`;
}

/** The declaration of what was called, which a refusal can name. */
async function endpointAt(method: string, path: string): Promise<AnyEndpoint | undefined> {
  const [{ allEndpoints }, { cleanPattern, findEndpoint }] = await Promise.all([
    import("../api/all.ts"),
    import("../api/endpoint-patterns.ts"),
  ]);
  return findEndpoint(
    cleanPattern(`${method} ${path.split("?")[0]}`),
    allEndpoints.map(({ endpoint }) => endpoint),
  );
}

const isJson = ({ headers }: RawReply): boolean =>
  /[/+]json\b/i.test(headers.get("content-type") ?? "application/json");

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function pretty(text: string): string {
  if (parses(text)) return `${JSON.stringify(JSON.parse(text), null, 2)}\n`;
  return text.endsWith("\n") || text === "" ? text : `${text}\n`;
}
