// Calls every endpoint: the requests that each must refuse, and how.
import { beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { acceptedKeys, endpointsWithAcceptedKeys } from "../../src/api/accepted-keys.ts";
import { allEndpoints } from "../../src/api/all.ts";
import { containerOf, isContainer } from "../../src/api/containers.ts";
import { type AnyEndpoint, SCIM } from "../../src/api/endpoint.ts";
import { ErrorBody } from "../../src/api/fields.ts";
import { fullPath, servedPaths, versions } from "../../src/api/paths.ts";
import { isNamed } from "../../src/server/platform/core/http/unknown-keys.ts";
import { startApp, type TestApp } from "../support/app.ts";

const endpoints = allEndpoints.map(({ endpoint }) => endpoint);
const keyOf = ({ method, path }: AnyEndpoint) => `${method} ${path}`;
/** The path with all parameters filled in. */
const pathOf = (endpoint: AnyEndpoint, value = "1", version = "v1") =>
  fullPath(endpoint, version).replaceAll(/:[a-z_]+/g, value);
const paramsOf = ({ path }: AnyEndpoint) => [...path.matchAll(/:([a-z_]+)/g)].map(([, name]) => name!);
const shapeOf = (schema: z.ZodType): Record<string, z.ZodType> =>
  "shape" in schema ? (schema.shape as Record<string, z.ZodType>) : {};

/** A path whose parameters are all valid. */
const validPath = (endpoint: AnyEndpoint) =>
  fullPath(endpoint).replaceAll(/:([a-z_]+)/g, (_, name) => {
    const schema = shapeOf(endpoint.params)[name]!;
    const named = schema instanceof z.ZodEnum ? schema.options.map(String) : [];
    return ["1", "CVE-2026-1234", "a", ...named].find((value) => schema.safeParse(value).success)!;
  });

async function refusal(res: Response): Promise<ErrorBody> {
  const type = res.headers.get("content-type");
  expect(type).toMatch(/^application\/(scim\+)?json/);
  const body = (await res.json()) as Record<string, unknown>;
  // Identity providers get the errors of SCIM in the same object.
  if (type!.startsWith(SCIM)) for (const name of ["schemas", "status", "scimType", "detail"]) delete body[name];
  return ErrorBody.strict().parse(body);
}

/** One app for all tests of a block: nothing here changes stored data. */
function shared(tier: "premium" | "free") {
  const box: { t: TestApp } = { t: undefined as never };
  beforeAll(async () => {
    box.t = await startApp({ tier, shared: true });
    return () => box.t.close();
  });
  return box;
}

/** The token in the path is checked before the body is read, so that strangers cannot have it parsed. */
const isNamedFirst = ({ path }: AnyEndpoint): boolean => path === "/device/:token/sso";

describe("every endpoint", () => {
  const box = shared("premium");
  const send = (endpoint: AnyEndpoint, token: string | null, path = pathOf(endpoint), body?: unknown) =>
    box.t.as(token).request(endpoint.method, path, body ?? (endpoint.hasBody ? {} : undefined));

  it("requires a token, in every version of the path", async () => {
    for (const endpoint of endpoints.filter(({ access }) => access !== "none"))
      for (const version of versions) {
        const res = await send(endpoint, null, pathOf(endpoint, "1", version));
        expect(res.status, keyOf(endpoint)).toBe(401);
        expect(await refusal(res)).toMatchObject({
          message: "Authorization header required",
          errors: [{ name: "base", reason: "Authorization header required" }],
        });
      }
  });

  it("refuses an invalid token", async () => {
    for (const endpoint of endpoints.filter(({ access }) => access !== "none")) {
      const res = await send(endpoint, "not-a-token");
      expect(res.status, keyOf(endpoint)).toBe(401);
      expect((await refusal(res)).message).toBe("Authentication required");
    }
  });

  it("refuses invalid ids, with the parameter", async () => {
    for (const endpoint of endpoints) {
      for (const [name, schema] of Object.entries(shapeOf(endpoint.params)))
        for (const bad of ["abc", "0", "-1", "1.5", "1e3", "99999999999999999999", "1;DROP TABLE hosts", "a b", "é"]) {
          if (schema.safeParse(bad).success) continue;
          const path = fullPath(endpoint).replaceAll(/:([a-z_]+)/g, (_, other) =>
            other === name ? encodeURIComponent(bad) : "1",
          );
          // Team 0 has endpoints of its own.
          if (endpoints.some((other) => fullPath(other) === path)) continue;
          const res = await send(endpoint, box.t.token, path);
          expect(res.status, `${keyOf(endpoint)} ${bad}`).toBe(400);
          expect((await refusal(res)).errors?.[0]?.name, `${keyOf(endpoint)} ${bad}`).toBe(name);
        }
      expect(Object.keys(shapeOf(endpoint.params)).sort(), keyOf(endpoint)).toEqual(paramsOf(endpoint).sort());
    }
  });

  it("refuses query values of the wrong type, with the parameter", async () => {
    let tried = 0;
    for (const endpoint of endpoints)
      for (const [name, schema] of Object.entries(shapeOf(endpoint.query)))
        for (const bad of ["x", "-7", "1.5", "9".repeat(40), "'", "x".repeat(5000), ""]) {
          if (schema.safeParse(bad).success) continue;
          const query = new URLSearchParams({
            [name]: bad,
            ...(name === "order_direction" ? { order_key: "id" } : {}),
          });
          const res = await send(endpoint, box.t.token, `${validPath(endpoint)}?${query}`);
          expect(res.status, `${keyOf(endpoint)} ${query}`).toBe(400);
          const { errors } = await refusal(res);
          expect(
            errors?.map((error) => error.name),
            `${keyOf(endpoint)} ${query}`,
          ).toContain(name);
          tried++;
        }
    expect(tried).toBeGreaterThan(100);
  });

  /** Keys that no schema has, at each place of the body where there is an object with named keys. */
  const withUnknown = (schema: z.ZodType): { body: unknown; path: string }[] => {
    const inner = containerOf(schema);
    if (inner instanceof z.ZodArray)
      return withUnknown(inner.element as z.ZodType).map(({ body, path }) => ({ body: [body], path: `0.${path}` }));
    if (inner instanceof z.ZodRecord)
      return withUnknown(inner.valueType as z.ZodType).map(({ body, path }) => ({
        body: { a: body },
        path: `a.${path}`,
      }));
    if (inner instanceof z.ZodUnion)
      return withUnknown(
        (inner.options.find((one) => isContainer(containerOf(one as z.ZodType))) as z.ZodType) ?? z.string(),
      );
    if (!(inner instanceof z.ZodObject) || (inner.def.catchall && !(inner.def.catchall instanceof z.ZodNever)))
      return [];
    return [
      { body: { zz_unknown: 1 }, path: "zz_unknown" },
      ...Object.entries(inner.shape).flatMap(([key, field]) =>
        withUnknown(field as z.ZodType).map(({ body, path }) => ({ body: { [key]: body }, path: `${key}.${path}` })),
      ),
    ];
  };
  it("refuses unknown query parameters, with their names and what was meant", async () => {
    let tried = 0;
    for (const endpoint of endpoints) {
      if (acceptedKeys(endpoint).query === "any") continue;
      const [known = ""] = Object.keys(shapeOf(endpoint.query)).filter((name) => name.length > 4);
      const misspelt = `${known}x`;
      const res = await send(endpoint, box.t.token, `${validPath(endpoint)}?zz_unknown=1&${misspelt}=1`);
      expect(res.status, keyOf(endpoint)).toBe(400);
      const { errors } = await refusal(res);
      expect(
        errors?.map(({ name }) => name),
        keyOf(endpoint),
      ).toEqual(["zz_unknown", misspelt]);
      expect(errors![0]!.reason).toMatch(/^unsupported parameter provided: "zz_unknown"/);
      if (known !== "") expect(errors![1]!.reason).toMatch(new RegExp(`Did you mean "${known}"|Did you mean "`));
      tried++;
    }
    expect(tried).toBeGreaterThan(300);
  });

  it("refuses unknown keys in bodies at every depth, with their paths", async () => {
    let tried = 0;
    for (const endpoint of endpoints) {
      if (endpoint.method === "GET" || acceptedKeys(endpoint).body === "any") continue;
      if ((endpoint.hasBody && !takesJson(endpoint)) || !endpoint.query.safeParse({}).success) continue;
      const all = endpoint.hasBody ? withUnknown(endpoint.body) : [{ body: { zz_unknown: 1 }, path: "zz_unknown" }];
      for (const { body, path } of all) {
        const res = await send(endpoint, box.t.token, validPath(endpoint), body);
        const errors = (await refusal(res)).errors?.map(({ name }) => name);
        const isAccepted = isNamed(path.split("."), (acceptedKeys(endpoint).body ?? []) as readonly string[]);
        // The token in the path is checked before the body is read.
        if (isAccepted || endpoint.path.startsWith("/device/:token")) continue;
        expect([res.status, errors], `${keyOf(endpoint)} ${path}`).toEqual([400, [path]]);
        tried++;
      }
    }
    expect(tried).toBeGreaterThan(200);
  });

  it("has every endpoint whose other keys are accepted, and none of these keys has a meaning", () => {
    for (const key of endpointsWithAcceptedKeys()) {
      const endpoint = endpoints.find((one) => keyOf(one) === key);
      expect(endpoint, key).toBeDefined();
      const { query = [], body = [] } = acceptedKeys(endpoint!);
      if (query !== "any")
        expect(
          query.filter((name) => Object.hasOwn(shapeOf(endpoint!.query), name)),
          key,
        ).toEqual([]);
      if (body !== "any")
        expect(
          body.filter((name) => Object.hasOwn(shapeOf(endpoint!.body), name)),
          key,
        ).toEqual([]);
    }
  });

  const takesJson = ({ hasBody, takes }: AnyEndpoint) =>
    hasBody && takes.kind !== "multipart" && takes.kind !== "stream";

  it("takes files only as multipart bodies, which contain all that are required", async () => {
    const uploads = endpoints.filter(({ takes }) => takes.kind === "multipart");
    expect(uploads.length).toBeGreaterThan(0);
    for (const endpoint of uploads) {
      const headers = { authorization: `Bearer ${box.t.token}` };
      const send = (init: RequestInit) => box.t.raw(pathOf(endpoint), { method: endpoint.method, ...init });
      const json = await send({ headers: { ...headers, "content-type": "application/json" }, body: "{}" });
      if (endpoint.takes.kind === "multipart" && endpoint.takes.isJsonToo) continue;
      expect(json.status, keyOf(endpoint)).toBe(415);
      const isRequired =
        endpoint.takes.kind === "multipart" && Object.values(endpoint.takes.files).some((file) => file.isRequired);
      if (isRequired) expect((await send({ headers, body: new FormData() })).status, keyOf(endpoint)).toBe(400);
    }
  });

  it("refuses bodies that are missing, not JSON or of the wrong type", async () => {
    for (const endpoint of endpoints.filter((one) => takesJson(one) && !isNamedFirst(one))) {
      const path = pathOf(endpoint);
      const raw = (body: string | undefined) =>
        box.t.raw(path, {
          method: endpoint.method,
          headers: { authorization: `Bearer ${box.t.token}`, "content-type": "application/json" },
          ...(body === undefined ? {} : { body }),
        });
      for (const [body, reason] of [
        [undefined, "Expected JSON Body"],
        ["", "Expected JSON Body"],
        ["{", "json decoder error"],
        ["\u0000", "json decoder error"],
        [`${"[".repeat(100)}${"]".repeat(100)}`, "json decoder error: nested too deeply"],
        ['{"a": {"__proto__": 1}}', 'unsupported key provided: "__proto__"'],
      ] as const) {
        if (!body && endpoint.body.def.type === "optional") continue;
        const res = await raw(body);
        expect(res.status, `${keyOf(endpoint)} ${body}`).toBe(400);
        expect((await refusal(res)).errors, keyOf(endpoint)).toEqual([{ name: "base", reason }]);
      }
      for (const body of ["null", "[]", '"text"', "7", "true"]) {
        if (endpoint.body.safeParse(JSON.parse(body)).success && endpoint.strict) continue;
        const res = await raw(body);
        expect([400, 422], `${keyOf(endpoint)} ${body}`).toContain(res.status);
        expect((await refusal(res)).errors, `${keyOf(endpoint)} ${body}`).not.toHaveLength(0);
      }
    }
  });

  it("refuses fields of the wrong type, with the field", async () => {
    let tried = 0;
    for (const endpoint of endpoints.filter(takesJson))
      for (const [name, schema] of Object.entries(shapeOf(endpoint.body)))
        for (const bad of [{}, [], 7.5, -1, true, "x".repeat(6000), [[]], [null], { x: 1 }]) {
          if (schema.safeParse(bad).success) continue;
          const res = await send(endpoint, box.t.token, pathOf(endpoint), { [name]: bad });
          expect([400, 422], `${keyOf(endpoint)} ${name}`).toContain(res.status);
          const named = (await refusal(res)).errors?.map((error) =>
            error.name === name || error.name.startsWith(`${name}.`) ? name : error.name,
          );
          expect(named, `${keyOf(endpoint)} ${name}: ${JSON.stringify(bad).slice(0, 80)}`).toContain(name);
          tried++;
        }
    expect(tried).toBeGreaterThan(50);
  });

  it("replies 405 to another method, in the API's format", async () => {
    const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"];
    const served = (method: string, path: string) =>
      endpoints.some(
        (endpoint) =>
          endpoint.method === method &&
          servedPaths(endpoint).some((one) => new RegExp(`^${one.replaceAll(/:[a-z_]+/g, "[^/]+")}$`).test(path)),
      );
    for (const endpoint of endpoints)
      for (const version of versions)
        for (const method of methods) {
          if (served(method, pathOf(endpoint))) continue;
          const res = await box.t.as(null).request(method, pathOf(endpoint, "1", version));
          expect(res.status, `${method} ${endpoint.path}`).toBe(405);
          expect((await refusal(res)).message).toBe("Method Not Allowed");
        }
  });

  it("has no other paths: these are 404 in the API's format", async () => {
    for (const path of [
      "/api/v1/svc/nothing",
      "/api/latest/svc/hosts/1/nothing",
      "/api/v3/svc/hosts",
      "/api/v1/hosts",
      "/api/v1/svc",
      "/api",
      "/nothing",
      "/api/v1/svc/..%2f..%2fetc",
    ])
      for (const token of [null, box.t.token]) {
        const res = await box.t.as(token).request("GET", path);
        expect(res.status, path).toBe(404);
        expect((await refusal(res)).message).toBe("Resource Not Found");
      }
  });

  it("accepts only JSON and files from pages of other sites", async () => {
    for (const endpoint of endpoints.filter((one) => one.hasBody && !isNamedFirst(one))) {
      // Where a token is needed, pages of other sites cannot act for a user.
      const { takes, access } = endpoint;
      if (takes.kind === "raw" && takes.types.length === 0 && access !== "none") continue;
      const headers = { origin: "https://evil.example.com", "content-type": "text/plain" };
      const res = await box.t.as(box.t.token).request(endpoint.method, pathOf(endpoint), "{}", headers);
      expect(res.status, keyOf(endpoint)).toBe(415);
      await refusal(res);
    }
  });
});

describe("on the free tier", () => {
  const box = shared("free");

  it("premium endpoints answer 402", async () => {
    const premium = endpoints.filter(({ tier }) => tier === "premium");
    expect(premium.length).toBeGreaterThan(5);
    for (const endpoint of premium) {
      const res = await box.t.request(endpoint.method, pathOf(endpoint), endpoint.hasBody ? {} : undefined);
      expect(res.status, keyOf(endpoint)).toBe(402);
      expect((await refusal(res)).message).toBe("Requires Svc Premium license");
    }
  });

  it("premium query parameters answer 402", async () => {
    let tried = 0;
    for (const endpoint of endpoints.filter(({ tier, method }) => tier === "free" && method === "GET"))
      for (const [name, schema] of Object.entries(shapeOf(endpoint.query))) {
        if (!isPremium(schema)) continue;
        const res = await box.t.get(`${validPath(endpoint)}?${name}=1`);
        expect(res.status, `${keyOf(endpoint)} ${name}`).toBe(402);
        tried++;
      }
    expect(tried).toBeGreaterThan(5);
  });
});

function isPremium(schema: z.ZodType): boolean {
  if (schema.meta()?.premium === true) return true;
  const { def } = schema;
  return "innerType" in def && isPremium(def.innerType as z.ZodType);
}
