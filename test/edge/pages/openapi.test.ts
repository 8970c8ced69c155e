// The API's description compared with the OpenAPI 3.1 specification, as far as client generators depend on it.
import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { allEndpoints } from "../../../src/api/all.ts";
import { Download, file, MiB, multipart, raw } from "../../../src/api/bodies.ts";
import { endpointsWithStatuses } from "../../../src/api/documented-statuses.ts";
import { endpoint } from "../../../src/api/endpoint.ts";
import { ErrorBody } from "../../../src/api/fields.ts";
import { openApiDocument } from "../../../src/api/openapi.ts";
import { docsPage } from "../../../src/server/edge/web/pages/docs-page.ts";
import { startApp } from "../../support/app.ts";

type Json = Record<string, unknown>;
interface Operation extends Json {
  "x-alias-of"?: string;
  operationId: string;
  summary: string;
  tags: string[];
  security?: unknown[];
  parameters: { name: string; in: string; required: boolean; schema: Json; description?: string }[];
  requestBody?: { required: boolean; content: Record<string, { schema: Json }> };
  responses: Record<string, { description: string; content?: Record<string, { schema: Json; example?: unknown }> }>;
}
interface Document extends Json {
  openapi: string;
  info: Json;
  paths: Record<string, Record<string, Operation>>;
  components: { securitySchemes: Record<string, Json>; schemas: Record<string, Json> };
}

let document: Document;
beforeAll(async () => {
  const t = await startApp();
  document = (await (await t.raw("/api/v1/svc/openapi.json")).json()) as Document;
});

const operations = () =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );

/** Operations that are no aliases. */
const originals = () => operations().filter(({ operation }) => operation["x-alias-of"] === undefined);

/** Every schema below a value, with its position. */
function* schemasIn(value: unknown, at: string): Generator<[string, Json]> {
  if (typeof value !== "object" || value === null) return;
  for (const [key, inner] of Object.entries(value)) {
    if (key === "schema") yield* schemas(inner as Json, `${at}.schema`);
    else if (key !== "example") yield* schemasIn(inner, `${at}.${key}`);
  }
}
function* schemas(schema: Json, at: string): Generator<[string, Json]> {
  yield [at, schema];
  for (const [key, inner] of Object.entries((schema.properties ?? {}) as Record<string, Json>))
    yield* schemas(inner, `${at}.${key}`);
  for (const key of ["items", "additionalProperties", "propertyNames", "not"])
    if (typeof schema[key] === "object") yield* schemas(schema[key] as Json, `${at}.${key}`);
  for (const key of ["anyOf", "oneOf", "allOf"])
    for (const inner of (schema[key] ?? []) as Json[]) yield* schemas(inner, `${at}.${key}`);
  for (const inner of Object.values((schema.$defs ?? {}) as Record<string, Json>)) yield* schemas(inner, `${at}.$defs`);
}

const TYPES = ["string", "integer", "number", "boolean", "array", "object", "null"];
const KEYWORDS = new Set(
  `type enum const properties required items anyOf oneOf allOf not additionalProperties propertyNames description format pattern minimum
  maximum exclusiveMinimum exclusiveMaximum minLength maxLength minItems maxItems multipleOf default examples deprecated readOnly
  writeOnly title contentMediaType contentEncoding $ref $defs`.split(/\s+/),
);

const contentTypes = {
  json: ["application/json"],
  form: ["application/json", "application/x-www-form-urlencoded"],
  multipart: ["multipart/form-data"],
  stream: ["application/offset+octet-stream"],
};

describe("the API's description", () => {
  it("is of OpenAPI 3.1, with title, version, license and server", () => {
    expect(document.openapi).toMatch(/^3\.1\.\d+$/);
    expect(document.info).toMatchObject({ title: "svc", version: expect.any(String), license: { name: "MIT" } });
    expect(document.servers).toEqual([{ url: "/api/v1" }]);
    const allowed = ["openapi", "info", "servers", "security", "paths", "components", "tags"];
    expect(Object.keys(document).filter((key) => !allowed.includes(key) && !key.startsWith("x-"))).toEqual([]);
  });

  it("requires a bearer token except where none is needed", () => {
    expect(document.components.securitySchemes).toEqual({ token: { type: "http", scheme: "bearer" } });
    expect(document.security).toEqual([{ token: [] }]);
    const open = originals().filter(({ operation }) => operation.security?.length === 0);
    expect(open.map(({ operation }) => operation.operationId).sort()).toEqual([
      "android.enrollmentToken",
      "bootstrap.download",
      ...[
        "apnsPing",
        "bypassConditionalAccess",
        "certificates",
        "commandResult",
        "desktop",
        "desktopAdmin",
        "deviceMapping",
        "get",
        "install",
        "installAll",
        "installResult",
        "manualProfile",
        "migrateMdm",
        "policies",
        "refetch",
        "resendProfile",
        "rotateEncryptionKey",
        "signIn",
        "software",
        "softwareCategories",
        "softwareIcon",
        "triggerEscrow",
        "uninstall",
        "uninstallResult",
      ].map((name) => `device.${name}`),
      "eula.download",
      "invites.accept",
      "invites.show",
      "live-queries.socketInfo",
      "logo.get",
      "mail.forgotPassword",
      "mail.resetPassword",
      "packages.downloadByToken",
      "sessions.create",
      "sessions.login",
      "setup-results.ofDevice",
      "setup.run",
      "sso.callback",
      "sso.cliToken",
      "sso.metadata",
      "sso.settings",
      "sso.start",
    ]);
  });

  it("has one operation for each endpoint, with a summary, a tag and a unique id", () => {
    const all = operations();
    expect(originals()).toHaveLength(allEndpoints.length);
    expect(new Set(all.map(({ operation }) => operation.operationId)).size).toBe(all.length);
    for (const { path, method, operation } of all) {
      expect(path, path).toMatch(/^\/[\w{}/.-]+$/);
      expect(["get", "put", "post", "delete", "patch"]).toContain(method);
      expect(operation.summary, operation.operationId).toMatch(/^[A-Z].{5,}\.$/);
      expect(operation.tags).toHaveLength(1);
    }
  });

  it("has every documented path under its name; aliases name the original", () => {
    const listed = readFileSync(new URL("../../fixtures/endpoints.tsv", import.meta.url), "utf8")
      .trim()
      .split("\n")
      .slice(1)
      .map((line) => line.split("\t") as [string, string, string, string])
      .filter(([, , , part]) => part === "A" || part === "B");
    expect(listed.length).toBeGreaterThan(80);
    const missing = listed.filter(([method, path]) => {
      const at = `/svc${path.replace(/:(\w+)/g, "{$1}")}`;
      return document.paths[at]?.[method.toLowerCase()] === undefined;
    });
    expect(missing).toEqual([]);
    for (const { operation, method } of operations()) {
      const original = operation["x-alias-of"];
      if (original === undefined) continue;
      const of = document.paths[original]![method]!;
      expect(operation.operationId.replace(/\.alias\d+$/, "")).toBe(of.operationId);
      expect(operation.responses).toEqual(of.responses);
    }
  });

  it("has the documented statuses of single endpoints, which exist", () => {
    const ids = new Map(allEndpoints.map(({ name, endpoint }) => [`${endpoint.method} ${endpoint.path}`, name]));
    expect(endpointsWithStatuses().filter((key) => !ids.has(key))).toEqual([]);
    const of = (id: string) =>
      Object.keys(operations().find(({ operation }) => operation.operationId === id)!.operation.responses);
    expect(of("sessions.login")).toEqual(expect.arrayContaining(["200", "202", "401", "422", "429"]));
    expect(of("mail.forgotPassword")).toEqual(expect.arrayContaining(["200", "429", "500"]));
    expect(of("sso.start")).toEqual(expect.arrayContaining(["200", "500"]));
    expect(of("hosts.list")).toContain("402");
    expect(of("labels.create")).toContain("409");
  });

  it("lists what is accepted without an effect, and refuses everything else", () => {
    const byId = new Map(operations().map(({ operation }) => [operation.operationId, operation]));
    expect(byId.get("teams.modify")!["x-ignored"]).toMatchObject({
      body: expect.arrayContaining(["host_ids", "user_ids"]),
    });
    expect(byId.get("hosts.list")).not.toHaveProperty("x-ignored");
  });

  it("declares each parameter once, with a schema, and a body only where one is taken", () => {
    for (const { operation, method } of operations()) {
      const keys = operation.parameters.map((parameter) => `${parameter.in} ${parameter.name}`);
      expect(new Set(keys).size, operation.operationId).toBe(keys.length);
      for (const parameter of operation.parameters) {
        expect(["path", "query", "header"]).toContain(parameter.in);
        expect(Object.keys(parameter.schema).length, `${operation.operationId} ${parameter.name}`).toBeGreaterThan(0);
      }
      if (method === "get") expect(operation.requestBody, operation.operationId).toBeUndefined();
      const of = operation.operationId.replace(/\.alias\d+$/, "");
      const { takes } = allEndpoints.find(({ name }) => name === of)!.endpoint;
      const isJsonToo = takes.kind === "multipart" && takes.isJsonToo;
      if (operation.requestBody && takes.kind !== "raw")
        expect(Object.keys(operation.requestBody.content)).toEqual([
          ...contentTypes[takes.kind],
          ...(isJsonToo ? ["application/json"] : []),
        ]);
    }
  });

  it("describes files, bytes and downloads, and so does the page of the API", () => {
    const given = { summary: "A test.", access: "user" } as const;
    const body = multipart({ team: z.string().optional() }, { package: file({ limit: 20 * MiB }) });
    const upload = endpoint({ ...given, method: "POST", path: "/upload", body, response: z.object({}) });
    const bytes = raw({ limit: 10, types: ["application/x-test"] });
    const put = endpoint({ ...given, method: "PUT", path: "/bytes", body: bytes, response: z.object({}) });
    const type = "application/octet-stream";
    const download = endpoint({ ...given, method: "GET", path: "/file", produces: type, response: Download });
    const all = Object.entries({ upload, put, download });
    const shown = openApiDocument(
      "1",
      all.map(([name, one]) => ({ name, group: "test", endpoint: one })),
    ) as unknown as { paths: Record<string, Record<string, Operation>> };
    expect(shown.paths["/svc/upload"]!.post!.requestBody!.content).toMatchObject({
      "multipart/form-data": {
        schema: {
          properties: {
            team: { type: "string" },
            package: { type: "string", contentMediaType: type, description: "a file of at most 20 MiB" },
          },
          required: ["package"],
        },
      },
    });
    expect(shown.paths["/svc/bytes"]!.put!.requestBody!.content).toEqual({ "application/x-test": {} });
    const { responses } = shown.paths["/svc/file"]!.get!;
    expect([responses["200"]?.content, responses["206"]?.content]).toEqual([{ [type]: {} }, { [type]: {} }]);
    const { html } = docsPage(JSON.parse(JSON.stringify(shown)));
    for (const text of ["multipart/form-data", "a file of at most 20 MiB", "application/x-test"])
      expect(html).toContain(text);
  });

  it("shows an example of each error in the common format", () => {
    let examples = 0;
    for (const { operation } of operations()) {
      const statuses = Object.keys(operation.responses);
      expect(
        statuses.some((status) => /^2\d\d$/.test(status)),
        operation.operationId,
      ).toBe(true);
      for (const [status, response] of Object.entries(operation.responses)) {
        expect(response.description, `${operation.operationId} ${status}`).not.toBe("");
        // A run without a result in time is answered with what is known of it.
        if (/^[23]/.test(status) || (status === "408" && operation.operationId === "scripts.runSync")) continue;
        const media = response.content?.["application/json"];
        expect(media?.schema).toEqual({ $ref: "#/components/schemas/Error" });
        if (status === "default") continue;
        ErrorBody.strict().parse(media?.example);
        examples++;
      }
      if (operation.security === undefined) expect(statuses, operation.operationId).toContain("401");
    }
    expect(examples).toBeGreaterThan(allEndpoints.length * 2);
  });

  it("contains only schemas of JSON Schema 2020-12, with valid references", () => {
    let seen = 0;
    for (const [at, schema] of [
      ...schemasIn(document.paths, "paths"),
      ...Object.entries(document.components.schemas).flatMap(([name, schema]) => [...schemas(schema, name)]),
    ]) {
      seen++;
      for (const type of [schema.type ?? []].flat()) expect(TYPES, at).toContain(type);
      const unknown = Object.keys(schema).filter((key) => !KEYWORDS.has(key) && !key.startsWith("x-"));
      expect(unknown, at).toEqual([]);
      for (const key of (schema.required ?? []) as string[])
        expect(Object.keys(schema.properties as Json), at).toContain(key);
      // Nullable is a type here, not the keyword of OpenAPI 3.0.
      expect(schema, at).not.toHaveProperty("nullable");
      if (typeof schema.$ref === "string") {
        const [, section, kind, name] = schema.$ref.split("/");
        expect([section, kind], at).toEqual(["components", "schemas"]);
        expect(document.components.schemas, at).toHaveProperty(name!);
      }
    }
    expect(seen).toBeGreaterThan(500);
  });
});

describe("the page that shows it", () => {
  it("has groups that are written in one way", () => {
    const groups = new Set(operations().flatMap(({ operation }) => operation.tags));
    expect(groups.size).toBeGreaterThan(50);
    for (const group of groups) expect(group).toMatch(/^[a-z]+(-[a-z]+)*$/);
  });

  it("loads nothing from elsewhere, and runs no scripts", async () => {
    const t = await startApp();
    const page = await t.raw("/api/docs");
    const policy = page.headers.get("content-security-policy")!;
    expect(policy.split("; ")).toEqual(
      expect.arrayContaining([
        "default-src 'none'",
        "style-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
      ]),
    );
    expect(policy).not.toMatch(/unsafe|\*|https?:|data:|script-src/);
    const text = await page.text();
    expect(text).not.toMatch(/<script|<iframe|<object|<embed|<form|\sstyle=|\son\w+=|javascript:/i);
    const links = [...text.matchAll(/(?:href|src)="([^"]*)"/g)].map(([, link]) => link!);
    expect(links.length).toBeGreaterThan(5);
    for (const link of links) {
      expect(link).toMatch(/^(\/|#)/);
      if (link.startsWith("/")) expect((await t.raw(link)).status, link).toBe(200);
      else expect(text, link).toContain(`id="${link.slice(1)}"`);
    }
  });
});
