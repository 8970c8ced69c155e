// Field types that many resources share: ids, times, query parameters, paging.
import { z } from "zod";

/** An id in a body or reply: a positive integer. */
export const Id = z.int().positive();
/** Ids by the hundred thousand: the first that is none ends the look at them. */
export const Ids = z
  .array(z.unknown())
  .max(1_000_000)
  .transform((values, context): number[] => {
    const at = values.findIndex((value) => !Number.isSafeInteger(value) || (value as number) <= 0);
    if (at === -1) return values as number[];
    const input = values[at];
    context.issues.push(
      typeof input === "number"
        ? { code: "custom", message: "must be a positive integer", path: [at], input }
        : { code: "invalid_type", expected: "int", path: [at], input },
    );
    return z.NEVER;
  })
  .meta({ type: "array", items: { type: "integer", minimum: 1 } });
export const Timestamp = z.iso.datetime().meta({ description: "ISO 8601, UTC" });

const decimal = /^-?\d{1,15}$/;
const asText = z.union([z.string(), z.number()]).transform(String);

/** An id in a path. */
export const IdParam = asText
  .refine((text) => decimal.test(text) && Number(text) > 0, { error: "must be a positive integer" })
  .transform(Number)
  .meta({ type: "integer", minimum: 1 });

/** An integer in a query. Anything else is 400 `Invalid <param>: <value>`. */
export const QueryInt = asText
  .refine((text) => decimal.test(text))
  .transform(Number)
  .meta({ type: "integer" });
/** A positive integer id in a query. */
export const QueryId = asText
  .refine((text) => decimal.test(text) && Number(text) > 0)
  .transform(Number)
  .meta({ type: "integer", minimum: 1 });
/** A team in a query: 0 is no team. Premium. */
export const QueryTeam = asText
  .refine((text) => decimal.test(text) && Number(text) >= 0)
  .transform(Number)
  .meta({ type: "integer", minimum: 0, premium: true, description: "0 = no team (premium)" });
/** A flag in a query: true, 1, false or 0. */
export const QueryFlag = z
  .union([z.boolean(), z.stringbool({ truthy: ["true", "1"], falsy: ["false", "0"] })])
  .meta({ type: "boolean" });
/** Search text: blanks around it do not count. */
export const QueryText = z
  .string()
  .max(1024)
  .transform((text) => text.trim())
  .meta({ type: "string" });

const page = asText.transform((text, context) => {
  const value = decimal.test(text) ? Number(text) : Number.NaN;
  if (Number.isNaN(value)) context.issues.push({ code: "custom", message: "non-int page value", input: text });
  else if (value < 0) context.issues.push({ code: "custom", message: "negative page value", input: text });
  return value;
});
const perPage = asText.transform((text, context) => {
  const value = decimal.test(text) ? Number(text) : Number.NaN;
  if (Number.isNaN(value)) context.issues.push({ code: "custom", message: "non-int per_page value", input: text });
  else if (value <= 0) context.issues.push({ code: "custom", message: "invalid per_page value", input: text });
  return value;
});
const direction = z.string().transform((text, context): "asc" | "desc" => {
  if (text !== "asc" && text !== "desc")
    context.issues.push({ code: "custom", message: `unknown order_direction: ${text}`, input: text });
  return text === "desc" ? "desc" : "asc";
});

/** Paging parameters with the keys that the list can be ordered by. Without `page` and `per_page` a list is whole. */
export const paging = <const K extends readonly [string, ...string[]]>(...keys: K) =>
  z.object({
    page: page.optional().meta({ type: "integer", minimum: 0, description: "zero-based page" }),
    per_page: perPage
      .optional()
      .meta({ type: "integer", minimum: 1, description: "rows on a page; 20 when only page is given" }),
    order_key: z.enum(keys).optional(),
    order_direction: direction
      .optional()
      .meta({ type: "string", enum: ["asc", "desc"], description: "needs order_key" }),
  });

/** Paging with `after`: only rows whose order_key is past this value. */
export const pagingAfter = <const K extends readonly [string, ...string[]]>(...keys: K) =>
  paging(...keys).extend({ after: z.string().max(1024).optional().meta({ description: "needs order_key" }) });

export const Meta = z.object({ has_next_results: z.boolean(), has_previous_results: z.boolean() });
export type Meta = z.infer<typeof Meta>;

/** Paging by cursor: each row once while rows come and go. */
export const cursorQuery = {
  cursor: z
    .string()
    .max(256)
    .optional()
    .meta({ description: "empty: the first page; else meta.next_cursor of the page before. Orders by id" }),
  with_count: QueryFlag.default(false).meta({ description: "tell how many there are in the header X-Total-Count" }),
};
export const CursorMeta = Meta.extend({
  next_cursor: z.string().nullable().optional().meta({ description: "with cursor; null on the last page" }),
});
export type CursorMeta = z.infer<typeof CursorMeta>;

export const Empty = z.object({});

/** What a masked secret looks like in replies; sent back in a change it means: unchanged. */
export const MASK = "********";
/** A run of asterisks of any length: clients make their own. */
export const isMask = (value: unknown): boolean => typeof value === "string" && /^\*+$/.test(value);

export const ErrorBody = z.object({
  message: z.string(),
  errors: z.array(z.object({ name: z.string(), reason: z.string() })).optional(),
  uuid: z.string().optional(),
  code: z.int().optional(),
});
export type ErrorBody = z.infer<typeof ErrorBody>;
