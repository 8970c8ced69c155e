// Endpoints of protocols of agents and devices: what the table has, and errors in a protocol's own form.
import { beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { allEndpoints, protocols } from "../../src/api/all.ts";
import { Content, raw } from "../../src/api/bodies.ts";
import { type AnyEndpoint, protocolEndpoint } from "../../src/api/endpoint.ts";
import { ErrorBody } from "../../src/api/fields.ts";
import { openApiDocument } from "../../src/api/openapi.ts";
import { servedPaths } from "../../src/api/paths.ts";
import { conflict, unavailable } from "../../src/server/platform/core/errors.ts";
import { bodyRoom } from "../../src/server/platform/core/http/body-room.ts";
import type { Protocol } from "../../src/server/platform/core/http/protocol.ts";
import { route } from "../../src/server/platform/core/http/route.ts";
import { protocolsOf } from "../../src/server/protocols.ts";
import { startApp, type TestApp } from "../support/app.ts";

const keyOf = ({ method, path }: AnyEndpoint) => `${method} ${path}`;
const table = Object.values(protocols).flatMap((endpoints) => Object.values(endpoints));

/** Each is open to everybody, so each is here because a review found that its handler checks the caller itself. */
const reviewed: Record<string, string> = {
  "HEAD /agent/ping": "contains nothing",
  "GET /enroll/agent.mjs": "contains nothing",
  "GET /enroll/enroll.sh": "contains nothing",
  "GET /enroll/enroll.ps1": "contains nothing",
  "GET /api/v1/svc/android_enterprise/connect/:token": "token of a sign-up",
  "POST /api/v1/svc/android_enterprise/pubsub": "secret of the push address, and signature of the vendor",
  "GET /api/v1/svc/software/titles/:id/in_house_app": "token of an installation",
  "GET /api/v1/svc/software/titles/:id/in_house_app/manifest": "token of an installation",
  "POST /agent/enroll": "enroll secret",
  "PUT /mdm/vendora/mdm": "signature of a device identity",
  "GET /api/v1/svc/enrollment_profiles/ota": "enroll secret",
  "GET /EnrollmentServer/Discovery.svc": "contains nothing",
  "POST /EnrollmentServer/Discovery.svc": "contains only the server's addresses",
  "POST /api/mdm/windows/discovery": "contains only the server's addresses",
  "POST /api/mdm/windows/policy": "agent's key, or token of a user who has signed in",
  "POST /api/mdm/windows/enroll": "agent's key, token of a user who has signed in, or signature of a device",
  "POST /api/mdm/windows/management": "client certificate, or digest with a nonce",
  "GET /mdm/vendora/service_discovery": "contains only the server's address",
  "POST /api/mdm/vendora/account_driven_enroll": "access token, and signature of a device",
  "POST /api/v1/svc/mdm/sso": "token, and signature of an assigned device; or nothing, as the page",
  "POST /api/v1/svc/mdm/sso/callback": "cookie, and signature of the identity provider",
  "POST /api/v1/svc/ota_enrollment": "enroll secret, and signature of a device",
  "GET /api/mdm/vendora/enroll": "token, and signature of an assigned device",
  "POST /api/mdm/vendora/enroll": "token, and signature of an assigned device",
  "POST /agent/config": "agent's key",
  "POST /agent/device_token": "agent's key",
  "POST /agent/scripts/request": "agent's key",
  "POST /agent/scripts/result": "agent's key",
  "POST /agent/software_install/details": "agent's key",
  "POST /agent/software_install/package": "agent's key",
  "POST /agent/software_install/result": "agent's key",
  "POST /agent/disk_encryption_key": "agent's key",
  "POST /agent/luks_data": "agent's key",
  "POST /agent/setup_experience/init": "agent's key",
  "POST /agent/setup_experience/status": "agent's key",
  "PUT /agent/device_mapping": "agent's key",
  "HEAD /device/:token/ping": "device token",
  "GET /device/:token/transparency": "device token",
  "POST /device/:token/debug/errors": "device token",
  "GET /svcd/certificates/:id": "node key",
  "PUT /svcd/certificates/:id/status": "node key",
  "GET /mdm/scep/proxy/:identifier": "challenge",
  "POST /mdm/scep/proxy/:identifier": "challenge",
  "GET /agent/host_identity/scep": "enroll secret",
  "POST /agent/host_identity/scep": "enroll secret",
  "GET /mdm/vendora/scep": "challenge",
  "POST /mdm/vendora/scep": "challenge",
  "GET /api/svc/conditional_access/idp/metadata": "contains nothing",
  "POST /api/svc/conditional_access/idp/sso": "certificate of a host, and signature of the access product",
  "GET /api/svc/conditional_access/scep": "enroll secret",
  "POST /api/svc/conditional_access/scep": "enroll secret",
};

describe("the table of protocols", () => {
  it("has the reviewed endpoints, which no description of the API contains", () => {
    expect(table.map(keyOf).sort()).toEqual(Object.keys(reviewed).sort());
    expect(table.filter((one) => allEndpoints.some(({ endpoint }) => endpoint === one))).toEqual([]);
    expect(table.filter(({ access }) => access !== "none")).toEqual([]);
    const described = Object.keys(openApiDocument("1").paths as object);
    const inDescription = table.flatMap(servedPaths).filter((path) => described.includes(path));
    expect(inDescription).toEqual([]);
  });

  it("is served completely, and nothing else is", () => {
    const mounted = protocolsOf({}).flatMap(({ routes }) => routes.map(({ endpoint }) => endpoint));
    expect(new Set(mounted)).toEqual(new Set(table));
  });

  it("refuses every request without what its handler asks for, and supports no dry runs", async () => {
    const t = await startApp();
    for (const endpoint of table) {
      if (reviewed[keyOf(endpoint)] === "contains nothing") continue;
      for (const path of servedPaths(endpoint)) {
        const at = path.replaceAll(/:[a-z_]+/g, "1");
        const send = (headers: Record<string, string> = {}) =>
          t.raw(at, {
            method: endpoint.method,
            headers: { "content-type": "application/json", ...headers },
            ...(endpoint.hasBody ? { body: '{"status":"verified"}' } : {}),
          });
        const { status } = await send();
        expect([400, 401, 403, 404, 422], `${endpoint.method} ${at}: ${status}`).toContain(status);
        if (endpoint.method === "HEAD" || endpoint.method === "GET") continue;
        const dry = await send({ "dry-run": "true" });
        expect(ErrorBody.parse(await dry.json()).errors?.[0]?.name, `${endpoint.method} ${at}`).toBe("Dry-Run");
      }
    }
  });
});

const paths = ["/mdm/test/:device", "/api/mdm/test/:device"] as const;
const common = { paths, summary: "A test.", params: z.object({ device: z.string() }) };
const reply = { produces: "application/x-test", response: Content } as const;
let thrown: unknown = null;

const testProtocol: Protocol = {
  routes: [
    route(protocolEndpoint({ ...common, method: "GET", ...reply }), async ({ params }) => ({
      content: params.device,
    })),
    route(
      protocolEndpoint({ ...common, method: "PUT", body: raw({ limit: 1000 }), ...reply }),
      async ({ body }, ctx, given) => {
        if (thrown !== null) throw thrown;
        if (body.bytes.byteLength > 0) return { content: `${ctx.user.kind} ${body.bytes.byteLength}` };
        given.status = 204;
        return { content: "" };
      },
    ),
  ],
  headers: { "x-protocol": "test" },
  renderError: ({ status, message, retryAfter }, { id, method, url }) =>
    status === 409
      ? { status: 410 }
      : {
          status: retryAfter === null ? 400 : 503,
          type: "application/x-fault",
          content: `<fault>${method} ${url.pathname}: ${message} (${id.length})</fault>`,
          headers: { "x-fault": "1" },
        },
};

describe("a protocol", () => {
  let t: TestApp;
  beforeAll(async () => {
    t = await startApp({ more: { protocols: [testProtocol] }, shared: true });
    return () => t.close();
  });
  const put = (body: string, path = "/mdm/test/1") => t.raw(path, { method: "PUT", body });

  it("is served at its exact paths, without tokens", async () => {
    for (const path of ["/mdm/test/a%20b", "/api/mdm/test/a%20b"]) {
      const res = await t.raw(path, { headers: { authorization: "Bearer nonsense" } });
      expect([res.status, res.headers.get("content-type"), res.headers.get("x-protocol"), await res.text()]).toEqual([
        200,
        "application/x-test",
        "test",
        "a b",
      ]);
    }
    expect((await t.raw("/api/v1/svc/mdm/test/1")).status).toBe(404);
    const named = await t.raw("/mdm/test/1", {
      method: "PUT",
      body: "abc",
      headers: { authorization: `Bearer ${t.token}` },
    });
    expect(await named.text()).toBe("nobody 3");
  });

  it("may answer without a content", async () => {
    const res = await put("");
    expect([res.status, res.headers.get("content-type"), await res.text()]).toEqual([204, null, ""]);
  });

  it("renders each error itself: of its handler, of the server, of bodies and of methods", async () => {
    const fault = (method: string, message: string) => `<fault>${method} /mdm/test/1: ${message} (36)</fault>`;
    const check = async (res: Response, status: number, text: string) =>
      expect([res.status, res.headers.get("content-type"), res.headers.get("x-protocol"), await res.text()]).toEqual([
        status,
        text === "" ? null : "application/x-fault",
        "test",
        text,
      ]);
    for (const [error, status, text] of [
      [conflict("taken"), 410, ""],
      [unavailable("later"), 503, fault("PUT", "Service Unavailable")],
      [new Error("secret"), 400, fault("PUT", "Unknown Error")],
    ] as const) {
      thrown = error;
      await check(await put("x"), status, text);
    }
    thrown = null;
    await check(await put("x".repeat(1001)), 400, fault("PUT", "Request Entity Too Large"));
    const wrong = await t.raw("/mdm/test/1", { method: "DELETE" });
    expect([wrong.headers.get("allow"), wrong.headers.get("x-fault")]).toEqual(["GET, PUT", "1"]);
    await check(wrong, 400, fault("DELETE", "Method Not Allowed"));
  });

  it("counts the bodies of its callers as those of strangers", async () => {
    const room = t.services.running.of(bodyRoom);
    let send = (_: string) => {};
    let end = () => {};
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        send = (text) => controller.enqueue(new TextEncoder().encode(text));
        end = () => controller.close();
      },
    });
    const waiting = t.raw("/mdm/test/1", { method: "PUT", body, duplex: "half" } as RequestInit);
    send("x".repeat(600));
    await expect.poll(() => room.taken("stranger")).toBe(600);
    end();
    expect(await (await waiting).text()).toBe("nobody 600");
    expect(room.taken("stranger")).toBe(0);
  });
});
