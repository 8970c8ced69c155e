import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { scriptsApi } from "../../src/api/delivery/scripts.ts";
import { hostsApi } from "../../src/api/inventory/hosts.ts";
import { teamsApi } from "../../src/api/settings/teams.ts";
import { ApiClient, type ClientOptions } from "../../src/client/client.ts";
import { ApiCallError, retryAfterSeconds, Unreachable } from "../../src/client/errors.ts";
import type { SendInit } from "../../src/client/exchange.ts";

interface SentRequest extends SendInit {
  url: string;
}
type Answer = Response | Error;

/** A client whose requests get the given replies in order, and the requests that it sent. */
function scripted(answers: Answer[], options: Partial<ClientOptions> = {}) {
  const sent: SentRequest[] = [];
  const waits: number[] = [];
  const client = new ApiClient({
    serverUrl: "http://svc.test/",
    send: async (url, init) => {
      sent.push({ url, ...init });
      const next = answers.shift();
      if (next === undefined) throw new Error("no answer is left");
      if (next instanceof Error) throw next;
      return next;
    },
    sleep: async (ms) => void waits.push(ms),
    random: () => 0.5,
    ...options,
  });
  return { client, sent, waits };
}

const json = (body: unknown, init: ResponseInit = {}) => new Response(JSON.stringify(body), { status: 200, ...init });
const reset = () => Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" });

describe("a call", () => {
  it("sends path parameters, query, body and token", async () => {
    const { client, sent } = scripted([json({ host: { id: 1 } }), json({})], { token: "secret" });
    await client.call(hostsApi.byIdentifier, { params: { identifier: "a/b c" }, query: { exclude_software: true } });
    await client.call(hostsApi.deleteMany, { body: { ids: [1, 2] } });
    expect(sent[0]).toMatchObject({
      url: "http://svc.test/api/v1/svc/hosts/identifier/a%2Fb%20c?exclude_software=true",
      method: "GET",
      headers: { authorization: "Bearer secret", accept: "application/json" },
    });
    expect(sent[1]).toMatchObject({ method: "POST", body: '{"ids":[1,2]}' });
    expect(sent[1]?.headers["content-type"]).toBe("application/json");
  });

  it("sends no parameter that would change the path", async () => {
    for (const identifier of [".", "..", ""]) {
      const { client, sent } = scripted([]);
      const call = client.call(hostsApi.byIdentifier, { params: { identifier } });
      await expect(call).rejects.toMatchObject({ name: "NotInPath", value: identifier });
      expect(sent).toEqual([]);
    }
    const { client, sent } = scripted([json({})]);
    await client.call(hostsApi.byIdentifier, { params: { identifier: "..." } });
    expect(new URL(sent[0]!.url).pathname).toBe("/api/v1/svc/hosts/identifier/...");
  });

  it("throws the server's error", async () => {
    const body = { message: "Validation Failed", errors: [{ name: "name", reason: "too long" }], uuid: "u-1" };
    const { client } = scripted([json(body, { status: 422 })]);
    const error = await client.call(hostsApi.count).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ApiCallError);
    expect(error).toMatchObject({ status: 422, message: "Validation Failed", errors: body.errors, requestId: "u-1" });
  });

  it("recognizes the error page of a proxy", async () => {
    const { client } = scripted([new Response("<html>Bad gateway</html>", { status: 502 })]);
    await expect(client.call(hostsApi.count)).rejects.toMatchObject({ status: 502, errors: [] });
  });

  it("reports that the other side is not an svc server", async () => {
    const { client } = scripted([new Response("<html>hello</html>")]);
    await expect(client.call(hostsApi.count)).rejects.toMatchObject({ name: "Unreachable", code: "NOT_JSON" });
  });

  it("reports the server's version", async () => {
    const versions: string[] = [];
    const { client } = scripted([json({ count: 1 }, { headers: { "x-svc-version": "9.9.9" } })], {
      onServerVersion: (version) => versions.push(version),
    });
    await client.call(hostsApi.count);
    expect(versions).toEqual(["9.9.9"]);
  });
});

describe("a call over the network", () => {
  it("waits longer than the time limit for a reply that may take minutes", async () => {
    let release = () => {};
    const isReleased = new Promise<void>((resolve) => {
      release = resolve;
    });
    const server = createServer(async (_, res) => {
      await isReleased;
      res.end(JSON.stringify({ exit_code: 0 }));
    }).listen(0, "127.0.0.1");
    onTestFinished(() => void server.closeAllConnections());
    onTestFinished(() => void server.close());
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const client = new ApiClient({ serverUrl: `http://127.0.0.1:${port}`, timeout: 2_000, token: "t" });
    const slow = client.call(scriptsApi.runSync, { body: { host_id: 1, script_contents: "true" } });
    await expect(client.call(scriptsApi.run, { body: { host_id: 1, script_contents: "true" } })).rejects.toThrow(
      "does not respond in time",
    );
    release();
    expect(await slow).toEqual({ exit_code: 0 });
  });
});

describe("retries", () => {
  it("wait as long as a 429 asks for, with any method", async () => {
    const slow = () => json({}, { status: 429, headers: { "retry-after": "7" } });
    const { client, sent, waits } = scripted([slow(), slow(), json({})]);
    await client.call(hostsApi.deleteMany, { body: { ids: [1] } });
    expect(sent).toHaveLength(3);
    expect(waits).toEqual([7000, 7000]);
  });

  it("wait increasingly longer after a 429 without a time, and give up after four tries", async () => {
    const { client, sent, waits } = scripted([1, 2, 3, 4, 5].map(() => json({}, { status: 429 })));
    await expect(client.call(hostsApi.count)).rejects.toMatchObject({ status: 429 });
    expect(sent).toHaveLength(4);
    expect(waits).toEqual([250, 500, 1000]);
  });

  it("do not wait for a long time", async () => {
    const { client, waits } = scripted([json({}, { status: 429, headers: { "retry-after": "3600" } })]);
    await expect(client.call(hostsApi.count)).rejects.toMatchObject({ status: 429, retryAfter: 3600 });
    expect(waits).toEqual([]);
  });

  it("repeat a read whose connection was lost", async () => {
    const { client, sent } = scripted([reset(), json({ count: 3 })]);
    expect(await client.call(hostsApi.count)).toEqual({ count: 3 });
    expect(sent).toHaveLength(2);
  });

  it("never repeat a POST or PATCH whose connection was lost", async () => {
    for (const call of [
      (client: ApiClient) => client.call(hostsApi.deleteMany, { body: { ids: [1] } }),
      (client: ApiClient) => client.call(teamsApi.modify, { params: { id: 1 }, body: { name: "x" } }),
    ]) {
      const { client, sent } = scripted([reset(), json({})]);
      await expect(call(client)).rejects.toBeInstanceOf(Unreachable);
      expect(sent).toHaveLength(1);
    }
  });

  it("do not repeat a request if no server is listening", async () => {
    const refused = Object.assign(new Error("connect"), { code: "ECONNREFUSED" });
    const { client, sent } = scripted([refused]);
    await expect(client.call(hostsApi.count)).rejects.toMatchObject({ message: "no server is listening at svc.test" });
    expect(sent).toHaveLength(1);
  });

  it("stop when they are aborted", async () => {
    const stop = new AbortController();
    const { client, sent } = scripted([json({}, { status: 429 }), json({ count: 1 })], {
      sleep: async () => stop.abort(new Error("stopped")),
    });
    await expect(client.call(hostsApi.count, {}, { signal: stop.signal })).rejects.toThrow("stopped");
    expect(sent).toHaveLength(1);
  });

  it("support both forms of retry-after", () => {
    const now = Date.parse("2026-01-01T00:00:00Z");
    expect(retryAfterSeconds("12")).toBe(12);
    expect(retryAfterSeconds("Thu, 01 Jan 2026 00:00:30 GMT", now)).toBe(30);
    expect(retryAfterSeconds("Wed, 31 Dec 2025 00:00:00 GMT", now)).toBe(0);
    expect(retryAfterSeconds("soon")).toBeUndefined();
    expect(retryAfterSeconds(null)).toBeUndefined();
  });
});

describe("all", () => {
  const page = (ids: number[], more: boolean, key = "hosts") =>
    json({ [key]: ids.map((id) => ({ id })), meta: { has_next_results: more, has_previous_results: false } });
  const query = (sent: SentRequest | undefined) => Object.fromEntries(new URL(sent?.url ?? "http://x").searchParams);

  it("continues after the last id if the endpoint supports it", async () => {
    const { client, sent } = scripted([page([1, 2], true), page([5], false)]);
    const { rows, more } = await client.all(hostsApi.list, { query: { status: "online" } }, "hosts");
    expect(rows.map(({ id }) => id)).toEqual([1, 2, 5]);
    expect(more).toBe(false);
    expect(query(sent[0])).toEqual({ status: "online", order_key: "id", per_page: "500" });
    expect(query(sent[1])).toEqual({ status: "online", order_key: "id", per_page: "500", after: "2" });
  });

  it("requests pages if an order is given, or if the endpoint supports nothing else", async () => {
    const hosts = scripted([page([2], true), page([1], false)]);
    await hosts.client.all(hostsApi.list, { query: { order_key: "hostname" } }, "hosts");
    expect(query(hosts.sent[1])).toMatchObject({ order_key: "hostname", page: "1" });
    const teams = scripted([page([1], true, "teams"), page([2], false, "teams")]);
    expect((await teams.client.all(teamsApi.list, {}, "teams")).rows).toHaveLength(2);
    expect(query(teams.sent[1])).toEqual({ page: "1", per_page: "500" });
  });

  it("stops at the limit and reports that there are more rows", async () => {
    const { client, sent } = scripted([page([1, 2], true)]);
    const { rows, more } = await client.all(hostsApi.list, {}, "hosts", 2);
    expect(rows).toHaveLength(2);
    expect(more).toBe(true);
    expect(query(sent[0])).toMatchObject({ per_page: "2" });
  });
});
