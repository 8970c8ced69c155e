// Describes the API's resources and fields, from the schemas of its endpoints.
import { z } from "zod";
import { allEndpoints } from "../../api/all.ts";
import type { AnyEndpoint } from "../../api/endpoint.ts";
import { ownOf } from "../../text/record.ts";

interface Schema {
  type?: string | string[];
  description?: string;
  enum?: unknown[];
  const?: unknown;
  format?: string;
  properties?: Record<string, Schema>;
  additionalProperties?: Schema | boolean;
  items?: Schema;
  anyOf?: Schema[];
  allOf?: Schema[];
  $ref?: string;
  $defs?: Record<string, Schema>;
}

export interface Resource {
  /** Singular, e.g. `host`. */
  readonly name: string;
  readonly plural: string;
  readonly group: string;
  readonly schema: z.ZodType;
}

export interface Field {
  readonly field: string;
  readonly type: string;
  readonly description: string;
}
export interface FieldExplanation extends Field {
  /** All possible values, if the type is an enumeration. */
  readonly values: readonly string[];
  readonly fields: readonly Field[];
}

const singular = (word: string): string =>
  word.endsWith("ies")
    ? `${word.slice(0, -3)}y`
    : word.endsWith("s") && !word.endsWith("ss")
      ? word.slice(0, -1)
      : word;

const defOf = (schema: z.ZodType) =>
  schema.def as unknown as {
    type: string;
    innerType?: z.ZodType;
    element?: z.ZodType;
    shape?: Record<string, z.ZodType>;
  };

function bare(schema: z.ZodType): z.ZodType {
  const { innerType } = defOf(schema);
  return innerType ? bare(innerType) : schema;
}

/**
 * Groups that are left out: replies for a single page, and parts of the configuration, which is explained as a whole.
 */
const apart = new Set(["device", "app-config"]);

/** The objects in the API's lists, in the fullest form of each, and the configuration. */
export function resources(): Resource[] {
  const byName = new Map<string, Resource & { rank: number }>();
  const config = allEndpoints.find(({ name }) => name === "app-config.get");
  const add = (name: string, plural: string, group: string, schema: z.ZodType) => {
    // Hosts occur in short and full forms: the full form is the one in the hosts group.
    const rank = Object.keys(defOf(schema).shape ?? {}).length + (group === plural ? 1000 : 0);
    if ((byName.get(name)?.rank ?? 0) < rank) byName.set(name, { name, plural, group, schema, rank });
  };
  const members = allEndpoints
    .filter(({ group, endpoint }) => endpoint.method === "GET" && endpoint.produces === null && !apart.has(group))
    .flatMap(({ group, endpoint }) =>
      Object.entries(defOf(bare(endpoint.response)).shape ?? {}).map(([key, inner]) => ({
        key,
        group,
        schema: bare(inner),
      })),
    );
  for (const { key, group, schema } of members) {
    const { type, element } = defOf(schema);
    const member = type === "array" && element ? bare(element) : null;
    if (member && defOf(member).type === "object") add(kebab(singular(key)), kebab(key), group, member);
  }
  for (const { key, group, schema } of members) {
    const listed = byName.get(kebab(key));
    if (listed && listed.name !== listed.plural && defOf(schema).type === "object")
      add(listed.name, listed.plural, group, schema);
  }
  const all = [...byName.values()].map(({ rank: _, ...resource }) => resource);
  if (config) all.push({ name: "config", plural: "config", group: config.group, schema: config.endpoint.response });
  return all.sort((a, b) => a.name.localeCompare(b.name));
}

const kebab = (key: string): string => key.replaceAll("_", "-");

/** Finds a resource by name, singular or plural, with - or _. */
export function findResource(text: string): Resource | undefined {
  const key = text.toLowerCase().replaceAll("_", "-");
  return resources().find(({ name, plural }) => key === name || key === plural || singular(key) === name);
}

/** Describes the field at a dotted path of the resource; undefined if there is none. */
export function explain(resource: Resource, path: readonly string[]): FieldExplanation | undefined {
  const root = z.toJSONSchema(resource.schema, { unrepresentable: "any", io: "output" }) as Schema;
  const resolve = (schema: Schema): Schema => {
    const ref = schema.$ref;
    if (ref === "#") return root;
    const name = ref?.split("/").at(-1);
    return name === undefined
      ? schema
      : ({ ...resolve(root.$defs?.[name] ?? {}), ...schema, $ref: undefined } as Schema);
  };
  let at = resolve(root);
  for (const key of path) {
    const inner = ownOf(membersOf(at, resolve), key);
    if (!inner) return undefined;
    at = resolve(inner);
  }
  const members = Object.entries(membersOf(at, resolve));
  return {
    field: path.join("."),
    type: typeOf(at, resolve),
    description: describe(at, resolve),
    values: valuesOf(at, resolve),
    fields: members.map(([field, schema]) => ({
      field,
      type: typeOf(resolve(schema), resolve),
      description: describe(resolve(schema), resolve),
    })),
  };
}

type Resolve = (schema: Schema) => Schema;

/** The fields of an object, or of the objects in a list. */
function membersOf(schema: Schema, resolve: Resolve): Record<string, Schema> {
  if (schema.properties) return schema.properties;
  const inner = [schema.items, ...(schema.anyOf ?? []), ...(schema.allOf ?? [])].filter((part) => part !== undefined);
  return Object.assign({}, ...inner.map((part) => membersOf(resolve(part), resolve)));
}

export function typeOf(unresolved: Schema, resolve: Resolve = (schema) => schema): string {
  const schema = resolve(unresolved);
  const either =
    schema.anyOf ?? (Array.isArray(schema.type) ? schema.type.map((type): Schema => ({ type })) : undefined);
  if (either) return [...new Set(either.map((alternative) => typeOf(alternative, resolve)))].join(" | ");
  if (schema.enum) return "text";
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.type === "array") return `list of ${schema.items ? typeOf(schema.items, resolve) : "anything"}`;
  if (schema.type === "string") return schema.format === "date-time" ? "time" : "text";
  if (schema.type === "object" || schema.properties) return "object";
  return typeof schema.type === "string" ? schema.type : "anything";
}

function valuesOf(schema: Schema, resolve: Resolve): string[] {
  if (schema.enum) return schema.enum.map(String);
  const inner = [...(schema.anyOf ?? []), ...(schema.items ? [schema.items] : [])];
  return inner.flatMap((alternative) => valuesOf(resolve(alternative), resolve));
}

const describe = (schema: Schema, resolve: Resolve): string =>
  schema.description ??
  schema.anyOf?.map((alternative) => resolve(alternative).description).find((text) => text !== undefined) ??
  "";

export interface Uses {
  /** Names of endpoints. */
  readonly reads: readonly string[];
  readonly sets: readonly string[];
  readonly filters: readonly string[];
}

/** The endpoints that return the resource, accept the field in their body, or filter by it. */
export function usesOf({ name, plural, group }: Resource, path: readonly string[]): Uses {
  const [first] = path;
  const keys = [name, plural].map((key) => key.replaceAll("-", "_"));
  const names = (fits: (endpoint: AnyEndpoint) => boolean, inGroup = true) =>
    allEndpoints
      .filter((candidate) => (!inGroup || candidate.group === group) && fits(candidate.endpoint))
      .map((match) => match.name);
  const has = (schema: z.ZodType, key: string) => Object.hasOwn(defOf(bare(schema)).shape ?? {}, key);
  return {
    reads:
      name === "config"
        ? ["app-config.get"]
        : names(
            ({ method, response, produces }) =>
              method === "GET" && produces === null && keys.some((key) => has(response, key)),
            false,
          ),
    sets:
      first === undefined ? [] : names(({ body, hasBody, method }) => hasBody && method !== "GET" && has(body, first)),
    filters:
      first === undefined || path.length > 1 ? [] : names(({ query, method }) => method === "GET" && has(query, first)),
  };
}
