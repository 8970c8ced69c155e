// What callers need to know about the schemas of an endpoint. The built command line has these facts in a table
// (scripts/bundle-api.mjs), so that a command which only calls endpoints builds no schema.

import type { z } from "zod";
import type { AnyEndpoint, Outline, QueryField } from "./endpoint.ts";

type FieldSchema = { type?: string; description?: string; enum?: string[]; deprecated?: boolean; options?: string[] };

const outlines = new WeakMap<AnyEndpoint, Outline>();

export function outlineOf(endpoint: AnyEndpoint): Outline {
  const outline = endpoint.outline ?? outlines.get(endpoint) ?? readOutline(endpoint);
  outlines.set(endpoint, outline);
  return outline;
}

function readOutline({ query, response }: AnyEndpoint): Outline {
  const fields: Record<string, z.ZodType> = query.shape ?? {};
  return {
    query: Object.entries(fields).map(([name, schema]) => queryField(name, schema)),
    hasIdOrder: fields.order_key?.safeParse("id").success ?? false,
    hasMeta: "shape" in response && typeof response.shape === "object" && "meta" in (response.shape ?? {}),
  };
}

function queryField(name: string, schema: z.ZodType): QueryField {
  const { type, description, options, deprecated } = describe(schema);
  return {
    name,
    ...(type === undefined ? {} : { type }),
    ...(description === undefined ? {} : { description }),
    ...(options === undefined ? {} : { options }),
    ...(deprecated === undefined ? {} : { deprecated }),
  };
}

/** The metadata of the schema and of the schemas inside it; the outermost takes precedence. */
function describe(schema: z.ZodType): FieldSchema {
  const def = schema.def as unknown as { type: string; innerType?: z.ZodType; in?: z.ZodType; entries?: object };
  const inner = def.innerType ?? (def.type === "pipe" ? def.in : undefined);
  const below = inner ? describe(inner) : {};
  const ownMeta = (schema.meta() ?? {}) as FieldSchema;
  const options = ownMeta.enum ?? (def.type === "enum" ? Object.keys(def.entries ?? {}) : undefined);
  return { ...below, ...ownMeta, ...(options === undefined ? {} : { options }) };
}

export const hasQueryField = (endpoint: AnyEndpoint, name: string): boolean =>
  outlineOf(endpoint).query.some((field) => field.name === name);
