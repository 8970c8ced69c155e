// The configuration as an editable document, and the patch for what differs afterwards.

import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { ConfigSections } from "../../../api/settings/app-config.ts";
import { isRecord } from "../../../text/record.ts";
import type { Change } from "../../base-command.ts";

type Json = Record<string, unknown>;

/** The schema of a setting or of a group of settings; null if the path is neither. */
export function settingAt(path: string): z.ZodType | null {
  let schema: unknown = ConfigSections;
  for (const key of path === "" ? [] : path.split(".")) {
    const shape = schema instanceof z.ZodObject ? schema.shape : {};
    if (!Object.hasOwn(shape, key)) return null;
    schema = shape[key];
  }
  return schema as z.ZodType;
}

/** The part of the configuration that can be changed. */
export const changeable = (config: Json): Json =>
  Object.fromEntries(Object.entries(config).filter(([key]) => Object.hasOwn(ConfigSections.shape, key)));

export interface Difference {
  /** The request body. */
  readonly patch: unknown;
  readonly changes: readonly Change[];
  /** Settings that were removed from the document. That does not set a value. */
  readonly gone: readonly string[];
}

const nothing: Difference = { patch: undefined, changes: [], gone: [] };

/**
 * Settings are sent individually. Values without settings below them (lists, maps) are sent whole. Maps of agent options
 * can be removed: without one, agents have no such options, as with an empty one.
 */
export function difference(schema: z.ZodType | undefined, before: unknown, after: unknown, path: string): Difference {
  if (isDeepStrictEqual(before, after)) return nothing;
  if (path === AGENT_OPTIONS && isRecord(before) && isRecord(after)) return differenceOfOptions(before, after);
  const named = schema instanceof z.ZodObject && isRecord(before) && isRecord(after);
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

const AGENT_OPTIONS = "agent_options";

function differenceOfOptions(before: Json, after: Json): Difference {
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const isGone = (key: string) => !Object.hasOwn(after, key);
  const changed = keys.filter((key) => !isDeepStrictEqual(before[key], after[key]));
  const sent = changed.filter((key) => !isGone(key) || isRecord(before[key]));
  const at = (key: string) => `${AGENT_OPTIONS}.${key}`;
  return {
    patch: sent.length === 0 ? undefined : Object.fromEntries(sent.map((key) => [key, isGone(key) ? {} : after[key]])),
    changes: sent.map((key) => ({ field: at(key), from: before[key], to: isGone(key) ? {} : after[key] })),
    gone: changed.filter((key) => !sent.includes(key)).map(at),
  };
}

/** Nests the value under its path, as in a request body. */
export const nested = (path: string, value: unknown): Json =>
  path === ""
    ? (value as Json)
    : (path.split(".").reduceRight<unknown>((inner, key) => ({ [key]: inner }), value) as Json);

const secretName = /password|token|api_key|private_key|secret/;

/** Hides secrets that were typed into the document. */
export const shown = ({ field, from, to }: Change): Change =>
  secretName.test(field) || secretName.test(JSON.stringify(to) ?? "")
    ? { field, from: "(secret)", to: "(secret)" }
    : { field, from, to };
