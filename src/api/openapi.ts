// Generates an OpenAPI 3.1 document from the endpoint table.
import { z } from "zod";
import { acceptedKeys } from "./accepted-keys.ts";
import { actions, type Role } from "./access.ts";
import { allEndpoints } from "./all.ts";
import type { Multipart } from "./bodies.ts";
import { documentedStatuses } from "./documented-statuses.ts";
import { dryRunOf } from "./dry-run.ts";
import { DryRunHeaders } from "./dry-run-headers.ts";
import type { AnyEndpoint } from "./endpoint.ts";
import { ErrorBody } from "./fields.ts";
import { GitopsOverrideHeaders, kindInFiles } from "./settings/gitops-mode.ts";

type Json = Record<string, unknown>;

/** The document that describes every endpoint, under the version segment `v1`. */
export function openApiDocument(version: string, endpoints = allEndpoints): Json {
  const paths: Record<string, Json> = {};
  for (const { name, group, endpoint } of endpoints) {
    const described = operation(name, group, endpoint);
    const method = endpoint.method.toLowerCase();
    const add = (path: string, pathOperation: Json) => {
      const at = (endpoint.root ? path : `/svc${path}`).replace(/:(\w+)/g, "{$1}");
      paths[at] = { ...paths[at], [method]: pathOperation };
      return at;
    };
    const original = add(endpoint.path, described);
    for (const [i, alias] of endpoint.aliases.entries())
      add(alias, { ...described, operationId: `${name}.alias${i + 1}`, "x-alias-of": original });
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "svc",
      version,
      description: "Device-management server. All paths are available under /api/v1, /api/2022-04 and /api/latest.",
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: "/api/v1" }],
    security: [{ token: [] }],
    paths,
    components: {
      securitySchemes: { token: { type: "http", scheme: "bearer" } },
      schemas: { Error: schemaOf(ErrorBody, "output") },
    },
  };
}

function operation(name: string, group: string, endpoint: AnyEndpoint): Json {
  const success = Object.fromEntries(
    [endpoint.status, ...endpoint.otherStatus].map((status) => [
      String(status),
      status === 204 || status >= 300
        ? { description: status >= 300 ? "Continue at the address in `Location`." : "Done." }
        : {
            description: "Done.",
            content:
              endpoint.produces === null
                ? { [endpoint.mediaType]: { schema: schemaOf(endpoint.response, "output") } }
                : { [endpoint.produces]: {} },
          },
    ]),
  );
  return {
    operationId: name,
    tags: [group],
    summary: endpoint.summary,
    ...(endpoint.stability === "deprecated" ? { deprecated: true } : {}),
    "x-stability": endpoint.stability,
    "x-tier": endpoint.tier,
    "x-access": accessText(endpoint),
    ...(endpoint.access === "none" ? { security: [] } : {}),
    parameters: [
      ...parameters(endpoint.params, "path"),
      ...parameters(endpoint.query, "query"),
      ...parameters(endpoint.headers, "header"),
      ...(dryRunOf(endpoint) === true ? parameters(DryRunHeaders, "header") : []),
      ...(kindInFiles(endpoint) === undefined ? [] : parameters(GitopsOverrideHeaders, "header")),
    ],
    ...ignoredKeys(endpoint),
    ...(endpoint.hasBody
      ? {
          requestBody: {
            required: true,
            content: bodyContent(endpoint),
          },
        }
      : {}),
    responses: { ...success, ...refusals(endpoint) },
  };
}

/** What is accepted without an effect. Other unknown parameters and keys are refused. */
function ignoredKeys(endpoint: AnyEndpoint): Json {
  const { query, body, why } = acceptedKeys(endpoint);
  if (query === undefined && body === undefined) return {};
  const listed = Object.fromEntries(Object.entries({ query, body }).filter(([, keys]) => keys !== undefined));
  return { "x-ignored": { ...listed, why } };
}

function bodyContent({ takes, body }: AnyEndpoint): Json {
  switch (takes.kind) {
    case "raw":
      return Object.fromEntries(
        (takes.types.length > 0 ? takes.types : ["application/octet-stream"]).map((type) => [type, {}]),
      );
    case "form": {
      const schema = schemaOf(body, "input");
      return { "application/json": { schema }, "application/x-www-form-urlencoded": { schema } };
    }
    case "stream":
      return { [takes.type]: {} };
    case "multipart": {
      const schema = schemaOf(body, "input");
      const asJson = takes.isJsonToo ? { "application/json": { schema: withBase64(schema, takes) } } : {};
      return { "multipart/form-data": { schema }, ...asJson };
    }
    case "json":
      return { "application/json": { schema: schemaOf(body, "input") } };
  }
}

/** The schema of a form as JSON: files are base64. */
function withBase64(schema: Json, { files }: Multipart): Json {
  const inBase64 = Object.keys(files).map((name) => [name, { type: "string", contentEncoding: "base64" }]);
  return { ...schema, properties: { ...(schema.properties as Json), ...Object.fromEntries(inBase64) } };
}

const propertiesOf = (schema: z.ZodType): string[] => Object.keys((schema as z.ZodObject).shape);

function refusal(description: string, status: number, message: string, name = "base", reason = message): Json {
  return {
    [String(status)]: {
      description,
      content: {
        "application/json": {
          schema: { $ref: "#/components/schemas/Error" },
          example: { message, errors: [{ name, reason }], uuid: "3f0c5f1e-6a5e-4a51-9c3b-0d9a6c1f7a2b" },
        },
      },
    },
  };
}

function refusals(endpoint: AnyEndpoint): Json {
  return {
    ...(endpoint.hasBody
      ? refusal("Malformed input; names the parameter.", 400, "Bad request", "base", "json decoder error")
      : refusal("Malformed input; names the parameter.", 400, "Bad request", "page", "non-int page value")),
    ...(endpoint.access === "none" ? {} : refusal("No token, or it has expired.", 401, "Authentication required")),
    ...(endpoint.tier === "premium"
      ? refusal("Needs the premium tier.", 402, "Requires Svc Premium license")
      : hasPremiumParameter(endpoint)
        ? refusal("A parameter needs the premium tier.", 402, "Requires Svc Premium license")
        : {}),
    ...(typeof endpoint.access === "object" ? refusal("The role does not allow it.", 403, "forbidden") : {}),
    ...(propertiesOf(endpoint.params).length > 0
      ? refusal("Not found.", 404, "Resource Not Found", "base", "id 7 was not found in the datastore")
      : {}),
    ...(endpoint.hasBody ? refusalsOfBody(endpoint) : {}),
    ...Object.assign(
      {},
      ...documentedStatuses(endpoint).map(({ status, description, message, reason }) =>
        refusal(description, status, message, "base", reason),
      ),
    ),
    default: {
      description: "Another error, in the same format.",
      content: { "application/json": { schema: { $ref: "#/components/schemas/Error" } } },
    },
  };
}

function refusalsOfBody({ body, bodyLimit, takes }: AnyEndpoint): Json {
  const isForm = takes.kind === "multipart";
  const tooLarge = `the body is larger than ${bodyLimit} bytes`;
  const wrongType = isForm
    ? "The body is not a multipart form."
    : "The request was sent by a page of another site, and is not JSON.";
  const rightType = `Content-Type must be ${isForm ? "multipart/form-data" : "application/json"}`;
  const [field = "base"] = body instanceof z.ZodObject ? propertiesOf(body) : [];
  const rule = "A field breaks a rule; names the field.";
  return {
    ...refusal("The body is too large.", 413, "Request Entity Too Large", "base", tooLarge),
    ...refusal(wrongType, 415, "Unsupported Media Type", "base", rightType),
    ...refusal(rule, 422, "Validation Failed", field, `${field} is required`),
  };
}

const hasPremiumParameter = ({ query }: AnyEndpoint): boolean =>
  Object.values((schemaOf(query, "input").properties ?? {}) as Record<string, Json>).some(
    (parameter) => parameter["x-premium"] === true,
  );

function accessText({ access }: AnyEndpoint): Json | string {
  if (typeof access === "string") return access === "none" ? "no token" : "any signed-in user";
  const names = (held: readonly Role[]) => held.join(", ");
  const { global, team } = actions[access.action];
  return {
    action: access.action,
    global: names(global),
    team: access.scope === "team" ? names(team) : "",
    ...(access.dryRunAction === undefined ? {} : { dry_run_action: access.dryRunAction }),
  };
}

function parameters(schema: z.ZodType, place: "path" | "query" | "header"): Json[] {
  const { properties = {}, required = [] } = schemaOf(schema, "input") as {
    properties?: Record<string, Json>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, { description, ...of }]) => ({
    name,
    in: place,
    required: place === "path" || required.includes(name),
    ...(description === undefined ? {} : { description }),
    schema: of,
  }));
}

/** Parameters are text: their schemas declare the represented type in `meta`, which takes precedence here. */
export function schemaOf(schema: z.ZodType, io: "input" | "output"): Json {
  const {
    $schema: _,
    $defs: __,
    ...rest
  } = z.toJSONSchema(schema, {
    io,
    unrepresentable: "any",
    override: ({ jsonSchema }) => {
      if (jsonSchema.type !== undefined && jsonSchema.anyOf !== undefined) delete jsonSchema.anyOf;
      if ("premium" in jsonSchema) {
        jsonSchema["x-premium"] = true;
        delete jsonSchema.premium;
      }
    },
  });
  return withoutDefs(rest) as Json;
}

/**
 * Only "any JSON" refers to itself, by a name that does not exist in the surrounding document. A schema without
 * keywords is equivalent.
 */
function withoutDefs(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutDefs);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value);
  const anything = entries.some(([key, of]) => key === "$ref" && String(of).startsWith("#/$defs/"));
  return Object.fromEntries(
    entries.filter(([key]) => !(anything && key === "$ref")).map(([key, of]) => [key, withoutDefs(of)]),
  );
}
