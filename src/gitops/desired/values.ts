// How whole values are built from partial ones.
import type { z } from "zod";
import type { Json } from "../../text/differences.ts";
import { isRecord } from "../../text/record.ts";
import { overlay, type Value } from "../files/overlay.ts";
import type { Owner, Thing } from "../plan/diff.ts";

export const thing = (kind: Thing["kind"], owner: Owner, value: unknown, name: string = kind): Thing => ({
  kind,
  owner,
  name,
  value: value as Json,
});

export const overlaid = (schema: z.ZodType, base: unknown, change: unknown): Value =>
  overlay(schema, base, change) as Value;

/** Empty if there is no such object. */
export const objectIn = (value: unknown, key: string): Value =>
  isRecord(value) && isRecord(value[key]) ? (value[key] as Value) : {};
