import { describe, expect, it } from "vitest";
import { allEndpoints } from "../../../src/api/all.ts";
import { StoreUnavailable } from "../../../src/server/platform/store/store.ts";
import { startApp } from "../../support/app.ts";

interface Document {
  openapi: string;
  paths: Record<
    string,
    Record<string, { operationId: string; parameters: { name: string; in: string; required: boolean }[] }>
  >;
}

describe("the API's description", () => {
  it("is served without a token and has every endpoint of the table", async () => {
    const t = await startApp();
    const reply = await t.raw("/api/v1/svc/openapi.json");
    const document = (await reply.json()) as Document;
    expect(document.openapi).toMatch(/^3\.1/);
    const ids = Object.values(document.paths).flatMap((methods) =>
      Object.values(methods).map(({ operationId }) => operationId),
    );
    const originals = ids.filter((id) => !/\.alias\d+$/.test(id));
    expect(originals.sort()).toEqual(allEndpoints.map(({ name }) => name).sort());
  });

  it("names every path parameter as required", async () => {
    const t = await startApp();
    const { paths } = (await (await t.raw("/api/latest/svc/openapi.json")).json()) as Document;
    for (const [path, methods] of Object.entries(paths))
      for (const operation of Object.values(methods)) {
        const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
        const declared = operation.parameters.filter((one) => one.in === "path");
        expect(declared.map(({ name }) => name).sort(), path).toEqual(named.sort());
        expect(declared.every(({ required }) => required)).toBe(true);
      }
  });

  it("can be browsed without scripts", async () => {
    const t = await startApp();
    const reply = await t.raw("/api/docs");
    const text = await reply.text();
    expect(reply.headers.get("content-security-policy")).toContain("default-src 'none'");
    expect(text).not.toMatch(/<script|javascript:|\son\w+=/i);
    for (const { endpoint } of allEndpoints) expect(text).toContain(endpoint.path.replace(/:(\w+)/g, "{$1}"));
  });
});

describe("health and metrics", () => {
  it("return ok while the store works, and otherwise 503 with the failing part", async () => {
    const t = await startApp();
    const well = await t.raw("/healthz");
    expect([well.status, await well.json()]).toEqual([200, { status: "ok" }]);
    const check = t.store.check.bind(t.store);
    Object.assign(t.store, { check: () => Promise.reject(new StoreUnavailable("gone")) });
    const ill = await t.raw("/healthz");
    expect(ill.status).toBe(503);
    expect(await ill.json()).toMatchObject({ failing: { store: expect.any(String) } });
    Object.assign(t.store, { check });
  });

  it("count requests by route, never by path, and need no token", async () => {
    const t = await startApp();
    await t.get("/hosts/987650123456789");
    const text = await (await t.raw("/metrics")).text();
    expect(text).toContain('svc_http_requests_total{method="GET",route="/hosts/:id",status="404"} 1');
    expect(text).not.toContain("987650123456789");
  });
});

describe("invalid requests", () => {
  it("get a JSON 404 for an unknown path and a JSON 405 for a wrong method", async () => {
    const t = await startApp();
    const missing = await t.get("/no/such/path");
    expect([missing.status, ((await missing.json()) as { message: string }).message]).toEqual([
      404,
      "Resource Not Found",
    ]);
    const wrong = await t.request("PUT", "/hosts");
    expect(wrong.status).toBe(405);
    expect(await wrong.json()).toMatchObject({ errors: [{ name: "base" }] });
  });

  it("get 415 for a form posted from another site's page", async () => {
    const t = await startApp();
    const reply = await t.request("POST", "/hosts/delete", "filters=", {
      origin: "https://evil.example",
      "content-type": "text/plain",
    });
    expect(reply.status).toBe(415);
  });

  it("get 400 for bad JSON, a broken gzip stream, deep nesting and __proto__", async () => {
    const t = await startApp();
    const post = (body: string, headers: Record<string, string> = {}) =>
      t.request("POST", "/hosts/delete", body, { "content-type": "application/json", ...headers });
    expect((await post("{")).status).toBe(400);
    expect((await post("nonsense", { "content-encoding": "gzip" })).status).toBe(400);
    expect((await post("[".repeat(200) + "]".repeat(200))).status).toBe(400);
    expect((await post('{"ids":[1],"__proto__":{"admin":true}}')).status).toBe(400);
    expect((await post("")).status).toBe(400);
  });

  it("get 413 for a body over the limit", async () => {
    const t = await startApp();
    const reply = await t.request("POST", "/hosts/delete", `{"ids":[${"1,".repeat(3_000_000)}1]}`);
    expect(reply.status).toBe(413);
  });
});
