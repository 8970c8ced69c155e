// The configuration as a document that is edited: what differs afterwards is what a change has to send.
import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { ConfigSections } from "../api/app-config.ts";
import type { Change } from "./base-command.ts";

type Json = Record<string, unknown>;

const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** A setting that can be changed, or a part that holds some: its schema; null for what is none. */
export function settingAt(path: string): z.ZodType | null {
  let schema: unknown = ConfigSections;
  for (const key of path === "" ? [] : path.split(".")) {
    const shape = schema instanceof z.ZodObject ? schema.shape : {};
    if (!Object.hasOwn(shape, key)) return null;
    schema = shape[key];
  }
  return schema as z.ZodType;
}

/** Only what a change may give. */
export const changeable = (config: Json): Json =>
  Object.fromEntries(Object.entries(config).filter(([key]) => Object.hasOwn(ConfigSections.shape, key)));

export interface Difference {
  /** The body of the change. */
  readonly patch: unknown;
  readonly changes: readonly Change[];
  /** Settings that were taken out, which is no value. */
  readonly gone: readonly string[];
}

const nothing: Difference = { patch: undefined, changes: [], gone: [] };

/** Settings are sent one by one; what has no settings of its own below it (lists, maps, agent options) is sent whole. */
export function difference(schema: z.ZodType | undefined, before: unknown, after: unknown, path: string): Difference {
  if (isDeepStrictEqual(before, after)) return nothing;
  const named = schema instanceof z.ZodObject && path !== "agent_options" && isObject(before) && isObject(after);
  if (!named) return { patch: after, changes: [{ field: path, from: before, to: after }], gone: [] };
  const at = (key: string) => (path === "" ? key : `${path}.${key}`);
  const parts = Object.keys(after).map(
    (key) => [key, difference(schema.shape[key] as z.ZodType | undefined, before[key], after[key], at(key))] as const,
  );
  const sent = parts.filter(([, { patch }]) => patch !== undefined).map(([key, { patch }]) => [key, patch]);
  return {
    patch: sent.length === 0 ? undefined : Object.fromEntries(sent),
    changes: parts.flatMap(([, { changes }]) => changes),
    gone: [
      ...Object.keys(before)
        .filter((key) => !Object.hasOwn(after, key))
        .map(at),
      ...parts.flatMap(([, { gone }]) => gone),
    ],
  };
}

/** The part at a path as the body of a change. */
export const nested = (path: string, value: unknown): Json =>
  path === ""
    ? (value as Json)
    : (path.split(".").reduceRight<unknown>((inner, key) => ({ [key]: inner }), value) as Json);

const secretName = /password|token|api_key|private_key|secret/;

/** Secrets that were typed into the document are not repeated on the screen. */
export const shown = ({ field, from, to }: Change): Change =>
  secretName.test(field) || secretName.test(JSON.stringify(to) ?? "")
    ? { field, from: "(secret)", to: "(secret)" }
    : { field, from, to };
