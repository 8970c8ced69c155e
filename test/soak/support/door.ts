// Plain requests to a server that may be unreachable: the absence of a reply is a valid result.
import type { BenchServer, Caller } from "../../../bench/support/serve.ts";
import { pause } from "./check.ts";

export interface Answer {
  readonly status: number;
  readonly json: Record<string, unknown>;
}

export class Door {
  readonly #send: BenchServer["send"];
  readonly #token: string;

  private constructor(send: BenchServer["send"], token: string) {
    this.#send = send;
    this.#token = token;
  }

  /** Signs in once: the session survives the server's restarts. */
  static async open(server: BenchServer): Promise<Door> {
    let refused = "";
    // The first admin is created after the server has started to reply.
    for (let tries = 0; tries < 20; tries++) {
      const reply = await server.send("/api/v1/svc/login", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ email: server.email, password: server.password }),
      });
      const { token } = (await reply.json()) as { token?: string };
      if (token !== undefined) return new Door(server.send, token);
      refused = String(reply.status);
      await pause(500);
    }
    throw new Error(`could not sign in: ${refused}`);
  }

  call(method: string, path: string, body?: unknown): Promise<Answer | null> {
    return this.#request(method, `/api/v1/svc${path}`, body, { authorization: `Bearer ${this.#token}` });
  }

  agent(endpoint: string, body: unknown): Promise<Answer | null> {
    return this.#request("POST", `/api/v1/qengine/${endpoint}`, body, {});
  }

  /** Makes the request appear to come from another address: the server must trust this one as a proxy. */
  from(address: string, method: string, path: string, body: unknown): Promise<Answer | null> {
    return this.#request(method, `/api/v1/svc${path}`, body, { "x-forwarded-for": address });
  }

  /** The status of /healthz; 0 without a reply. */
  async health(): Promise<number> {
    return (await this.#request("GET", "/healthz", undefined, {}))?.status ?? 0;
  }

  async text(path: string): Promise<string> {
    const reply = await this.#send(path);
    return reply.text();
  }

  /** A caller that throws unless the request succeeds. */
  caller(): Caller {
    return async <T>(method: string, path: string, body?: unknown) => {
      const answer = await this.call(method, path, body);
      if (answer?.status !== 200) throw new Error(`${method} ${path}: ${JSON.stringify(answer)}`);
      return answer.json as T;
    };
  }

  async #request(
    method: string,
    path: string,
    body: unknown,
    headers: Readonly<Record<string, string>>,
  ): Promise<Answer | null> {
    let text: string;
    let status: number;
    try {
      const reply = await this.#send(path, {
        method,
        headers: { ...headers, "content-type": "application/json" },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(30_000),
      });
      status = reply.status;
      text = await reply.text();
    } catch {
      return null;
    }
    const json: unknown = text === "" ? {} : JSON.parse(text);
    return { status, json: json as Record<string, unknown> };
  }
}

const BATCH_SIZE = 1_000;

/** All rows of a list, in the order of their ids. */
export async function everyRow(call: Caller, path: string, key: string): Promise<Record<string, unknown>[]> {
  const rows: Record<string, unknown>[] = [];
  for (let page = 0; ; page++) {
    const query = `${path.includes("?") ? "&" : "?"}order_key=id&per_page=${BATCH_SIZE}&page=${page}`;
    const got = await call<Record<string, Record<string, unknown>[]>>("GET", path + query);
    rows.push(...got[key]!);
    if (got[key]!.length < BATCH_SIZE) return rows;
  }
}

export const enrollBody = (name: string, secret: string) => ({
  enroll_secret: secret,
  host_identifier: name,
  platform_type: "9",
  host_details: {
    os_version: { name: "Ubuntu", version: "22.04.4 LTS", major: "22", minor: "4", platform: "ubuntu" },
    osquery_info: { uuid: `uuid-${name}`, instance_id: `instance-${name}`, version: "5.12.1" },
    system_info: { hostname: name, uuid: `uuid-${name}`, hardware_serial: `serial-${name}` },
  },
});
