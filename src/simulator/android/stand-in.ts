// A stand-in for the Android Management API, the token service and the keys of the topic, made from their public
// documentation. A server uses it by its settings (`folder.ts`).
import { createPublicKey, randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, jwtVerify } from "jose";
import { messageOf } from "../../text/error-message.ts";
import type { StandInKeys } from "./folder.ts";
import { keyIdOf } from "./messages.ts";

type Json = Readonly<Record<string, unknown>>;

/** Devices of the fleet, by the names that the vendor gives them. Calls return at once; devices react later. */
interface Devices {
  /** The vendor's description; null: there is no such device. */
  describe(name: string): Json | null;
  /** The policy of this name has changed, or the device has got another one. */
  policyChanged(policyName: string): void;
  setPolicy(name: string, policyName: string): void;
  perform(name: string, operation: string, command: Json): void;
  remove(name: string): void;
}

export interface EnrollmentToken {
  readonly policyName: string;
  readonly additionalData: string;
  readonly isPersonal: boolean;
}

interface Policy {
  readonly version: number;
  readonly content: Json;
}

interface Reply {
  readonly status: number;
  readonly body: Json;
  readonly location?: string;
}

const TOKEN_SECONDS = 3599;
const BODY_MAX = 4 * 1024 * 1024;
const OPERATIONS_MAX = 100_000;

class Refusal extends Error {
  readonly reply: Reply;

  constructor(code: number, status: string, message: string) {
    super(message);
    this.reply = { status: code, body: { error: { code, status, message } } };
  }
}

const refuse = (code: number, status: string, message: string): never => {
  throw new Refusal(code, status, message);
};
const notFound = (what: string) => refuse(404, "NOT_FOUND", `${what} was not found`);

interface Request {
  readonly method: string;
  readonly url: URL;
  readonly headers: IncomingMessage["headers"];
  readonly text: string;
}

export class StandIn {
  readonly policies = new Map<string, Policy>();
  /** What is known of commands, by the name of their operation. */
  readonly operations = new Map<string, Json>();
  requests = 0;
  readonly #keys: StandInKeys;
  readonly #devices: Devices;
  readonly #access = new Set<string>();
  readonly #tokens = new Map<string, EnrollmentToken>();
  /** Versions grow over runs too: a server compares those of this run with those that it was given before. */
  #version: number;
  readonly #now: () => number;
  #server: Server | null = null;

  constructor(keys: StandInKeys, devices: Devices, now: () => number) {
    this.#keys = keys;
    this.#devices = devices;
    this.#now = now;
    this.#version = Math.floor(now() / 1000);
  }

  /** Port 0: any free port. Returns the address. */
  async listen({ host, port }: { readonly host: string; readonly port: number }): Promise<string> {
    const server = createServer((req, res) => void this.#serve(req, res));
    this.#server = server;
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(port, host, resolve);
    });
    return urlOf(host, (server.address() as AddressInfo).port);
  }

  async stop(): Promise<void> {
    this.#server?.closeAllConnections();
    await new Promise<void>((resolve) => (this.#server === null ? resolve() : this.#server.close(() => resolve())));
  }

  /** What a device gets that was given this token. Null: there is no such token. */
  tokenOf(value: string): EnrollmentToken | null {
    return this.#tokens.get(value) ?? null;
  }

  /** The newest version of a policy. One that was set in an earlier run has the version of this run's beginning. */
  versionOf(policyName: string): number {
    return this.policies.get(policyName)?.version ?? this.#version;
  }

  async #serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
    this.requests++;
    const reply = await this.#replyTo(req).catch((error: unknown): Reply => {
      if (error instanceof Refusal) return error.reply;
      const message = messageOf(error);
      return { status: 400, body: { error: { code: 400, status: "INVALID_ARGUMENT", message } } };
    });
    const text = JSON.stringify(reply.body);
    res.writeHead(reply.status, {
      "content-type": "application/json",
      "content-length": Buffer.byteLength(text),
      ...(reply.location === undefined ? {} : { location: reply.location }),
    });
    res.end(text);
  }

  async #replyTo(req: IncomingMessage): Promise<Reply> {
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of req as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > BODY_MAX) refuse(413, "INVALID_ARGUMENT", "the request is too large");
      chunks.push(chunk);
    }
    const { headers, method = "" } = req;
    const url = new URL(req.url ?? "/", `http://${headers.host ?? "localhost"}`);
    const request = { method, url, headers, text: Buffer.concat(chunks).toString("utf8") };
    if (url.pathname === "/token") return this.#accessToken(request);
    if (url.pathname === "/keys") return this.#publicKeys();
    if (url.pathname === "/signup") return this.#signUpPage(request);
    const [, bearer = ""] = /^Bearer (.+)$/.exec(headers.authorization ?? "") ?? [];
    if (!this.#access.has(bearer)) refuse(401, "UNAUTHENTICATED", "the access token is not valid");
    const [, path] = /^\/v1\/(.+)$/.exec(url.pathname) ?? notFound(url.pathname);
    return { status: 200, body: this.#answer(request, path!) };
  }

  async #accessToken({ url, text }: Request): Promise<Reply> {
    const form = new URLSearchParams(text);
    if (form.get("grant_type") !== "urn:ietf:params:oauth:grant-type:jwt-bearer")
      refuse(400, "INVALID_ARGUMENT", "the grant_type is not that of a service account");
    await jwtVerify(form.get("assertion") ?? "", this.#keys.account, {
      issuer: this.#keys.email,
      audience: `${url.origin}/token`,
      algorithms: ["RS256"],
      currentDate: new Date(this.#now()),
    });
    const token = randomUUID();
    this.#access.add(token);
    return { status: 200, body: { access_token: token, expires_in: TOKEN_SECONDS, token_type: "Bearer" } };
  }

  async #publicKeys(): Promise<Reply> {
    const { signer } = this.#keys;
    const key = { ...(await exportJWK(createPublicKey(signer))), kid: keyIdOf(signer), alg: "RS256", use: "sig" };
    return { status: 200, body: { keys: [key] } };
  }

  /** The admin's browser comes here, and goes back to the server at once. */
  #signUpPage({ url }: Request): Reply {
    const callback = url.searchParams.get("callbackUrl") ?? "";
    if (!URL.canParse(callback)) refuse(400, "INVALID_ARGUMENT", "the callbackUrl is not a URL");
    const back = new URL(callback);
    back.searchParams.set("enterpriseToken", this.#keys.token);
    return { status: 302, body: {}, location: back.href };
  }

  #answer({ method, url, text }: Request, path: string): Json {
    const json = text === "" ? {} : (JSON.parse(text) as Json);
    const { enterprise } = this.#keys;
    if (method === "POST" && path === "signupUrls") {
      const page = new URL("/signup", url);
      page.searchParams.set("callbackUrl", url.searchParams.get("callbackUrl") ?? "");
      return { name: "signupUrls/C1", url: page.href };
    }
    if (method === "POST" && path === "enterprises") {
      if (url.searchParams.get("enterpriseToken") !== this.#keys.token)
        refuse(400, "INVALID_ARGUMENT", "the enterpriseToken is not valid");
      return { ...json, name: enterprise };
    }
    if (path !== enterprise && !path.startsWith(`${enterprise}/`)) notFound(path);
    if (method === "DELETE" && path === enterprise) return {};
    const [kind = ""] = path.slice(enterprise.length + 1).split("/");
    if (kind === "policies") return this.#policyCall(method, path, json);
    if (kind === "devices") return this.#deviceCall(method, path, json);
    if (method === "POST" && kind === "enrollmentTokens") {
      const value = randomUUID().replaceAll("-", "").slice(0, 20).toUpperCase();
      this.#tokens.set(value, {
        policyName: String(json.policyName),
        additionalData: String(json.additionalData),
        isPersonal: json.allowPersonalUsage === "PERSONAL_USAGE_ALLOWED",
      });
      const extras = { "com.google.android.apps.work.clouddpc.EXTRA_ENROLLMENT_TOKEN": value };
      const qrCode = JSON.stringify({ "android.app.extra.PROVISIONING_ADMIN_EXTRAS_BUNDLE": extras });
      return { ...json, name: `${path}/${value}`, value, qrCode };
    }
    if (method === "POST" && kind === "webApps")
      return { ...json, name: `${path}/com.google.enterprise.webapp.x${randomUUID().slice(0, 8)}` };
    return notFound(path);
  }

  #policyCall(method: string, path: string, content: Json): Json {
    if (method === "PATCH") {
      this.#version++;
      this.policies.set(path, { version: this.#version, content });
      this.#devices.policyChanged(path);
      return { ...content, name: path, version: String(this.#version) };
    }
    const policy = this.policies.get(path) ?? notFound(path);
    if (method === "DELETE") this.policies.delete(path);
    return method === "DELETE" ? {} : { ...policy.content, name: path, version: String(policy.version) };
  }

  #deviceCall(method: string, path: string, body: Json): Json {
    if (method === "GET" && path.includes("/operations/")) return this.operations.get(path) ?? notFound(path);
    const [, name = "", verb] = /^(enterprises\/[^/]+\/devices\/[^/:]+)(?::(\w+))?$/.exec(path) ?? [];
    const device = this.#devices.describe(name) ?? notFound(path);
    if (method === "POST" && verb === "issueCommand") return this.#command(name, body);
    if (verb !== undefined) return notFound(path);
    if (method === "PATCH") this.#devices.setPolicy(name, String(body.policyName));
    if (method === "DELETE") this.#devices.remove(name);
    return method === "DELETE" ? {} : device;
  }

  #command(device: string, command: Json): Json {
    if (typeof command.type !== "string") refuse(400, "INVALID_ARGUMENT", "the command has no type");
    const name = `${device}/operations/${randomUUID()}`;
    const operation = { name, metadata: { ...command, createTime: new Date(this.#now()).toISOString() } };
    this.operations.set(name, operation);
    for (const oldest of this.operations.keys())
      if (this.operations.size > OPERATIONS_MAX) this.operations.delete(oldest);
      else break;
    this.#devices.perform(device, name, command);
    return operation;
  }
}

export const urlOf = (host: string, port: number): string =>
  `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
