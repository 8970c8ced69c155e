// Numbers and other words of YAML where a schema wants a text keep the text that the file has: `0012345` is the serial
// number of a host, and `1.10` a version.
import { z } from "zod";
import { defineOwn } from "../../text/record.ts";
import { unwrapped } from "../schema/loosen.ts";
import type { Problems } from "./problems.ts";
import type { Leaf, Tree } from "./tree.ts";

/** The plain values of a tree, with texts where the schema wants them. Numbers that could mean another one are problems. */
export function valueFor(schema: unknown, tree: Tree, problems: Problems): unknown {
  if (tree.kind === "leaf") return leafFor(schema, tree, problems);
  const inner = collectionIn(schema, tree.kind);
  if (tree.kind === "list") {
    const element = inner instanceof z.ZodArray ? inner.element : undefined;
    return tree.items.map((item) => valueFor(element, item, problems));
  }
  const record: Record<string, unknown> = {};
  for (const [key, { value }] of tree.entries) defineOwn(record, key, valueFor(fieldOf(inner, key), value, problems));
  return record;
}

function fieldOf(schema: unknown, key: string): unknown {
  if (schema instanceof z.ZodObject) return Object.hasOwn(schema.shape, key) ? schema.shape[key] : schema.def.catchall;
  return schema instanceof z.ZodRecord ? schema.valueType : undefined;
}

function leafFor(schema: unknown, leaf: Leaf, problems: Problems): unknown {
  const { value, written } = leaf;
  if (written === undefined || value === null || typeof value === "string") return value;
  const takes = takesOf(schema);
  const isUsual = typeof value === "boolean" || isUsualNumber(value, written);
  const isText = takes.has("string") && !(isUsual && takes.has(typeof value === "boolean" ? "boolean" : "number"));
  if (isText || isUsual) return isText ? written : value;
  problems.error(
    leaf.at,
    `${written} is read as the number ${value}: write ${value}, or put it into quotes if it is a text`,
  );
  return value;
}

/** Whether the number is written as everybody would write it: without other bases, leading zeros, exponents and signs. */
const isUsualNumber = (value: number, written: string): boolean =>
  /^-?(0|[1-9]\d*)(\.\d+)?$/.test(written) && (!Number.isInteger(value) || Number.isSafeInteger(value));

type Word = "string" | "number" | "boolean";

/** The types of values that are not collections and that the schema takes. */
function takesOf(schema: unknown): ReadonlySet<Word> {
  const inner = inputOf(schema);
  if (inner instanceof z.ZodUnion) return new Set(inner.options.flatMap((option) => [...takesOf(option)]));
  if (inner instanceof z.ZodString || inner instanceof z.ZodEnum || inner instanceof z.ZodLiteral)
    return new Set(["string"]);
  if (inner instanceof z.ZodStringFormat) return new Set(["string"]);
  if (inner instanceof z.ZodNumber) return new Set(["number"]);
  return inner instanceof z.ZodBoolean ? new Set(["boolean"]) : new Set();
}

/** The part of the schema that describes lists or objects. */
function collectionIn(schema: unknown, kind: "list" | "map"): unknown {
  const inner = inputOf(schema);
  if (!(inner instanceof z.ZodUnion)) return inner;
  const options = inner.options.map((option) => collectionIn(option, kind));
  return options.find((option) =>
    kind === "list" ? option instanceof z.ZodArray : option instanceof z.ZodObject || option instanceof z.ZodRecord,
  );
}

/** What the schema parses first. */
function inputOf(schema: unknown): unknown {
  if (!(schema instanceof z.ZodType)) return undefined;
  const inner = unwrapped(schema);
  return inner instanceof z.ZodPipe ? inputOf(inner.in) : inner;
}
