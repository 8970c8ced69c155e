// Field types shared by many resources: ids, times, query parameters, paging.
import { z } from "zod";

/** An id in a body or reply: a positive integer. */
/** A key of a change that is sent back as GET returned it. Another value is refused, because it cannot be changed. */
export const unchanged = <S extends z.ZodType>(schema: S) =>
  schema.optional().meta({ description: "as it is; it cannot be changed" });

export const Id = z.int().positive();
/** Lists can contain hundreds of thousands of ids: validation stops at the first invalid one. */
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
/** Line breaks, control characters, lone surrogates, and characters that change the text direction. */
const unfitForNames = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/u;
export const isOneLine = (text: string): boolean => !unfitForNames.test(text);
export const NOT_ONE_LINE = "must not contain line breaks or control characters";

/**
 * A name chosen by users: one line of text without invisible control characters. Each resource decides whether it may
 * be blank.
 */
export const nameText = (most = 255) =>
  z
    .string()
    .max(most)
    .refine((text) => text.trim() === "" || isOneLine(text), { error: NOT_ONE_LINE });

const localPart = /^[^\s@<>()[\]\\,;:"\p{Cc}\p{Cf}\p{Cs}]+$/u;
const domainPart = /^(?!-)[\p{L}\p{M}\p{N}-]+(?<!-)$/u;

/**
 * Whether the text is a plain address: `ann@example.com`, but not `<ann@example.com>`, `Ann <ann@example.com>` or a
 * list.
 */
export function isEmail(text: string): boolean {
  const [local, domain, ...more] = text.split("@") as [string, string | undefined, ...string[]];
  if (domain === undefined || more.length > 0 || text.length > 255) return false;
  return (
    localPart.test(local) && !/^\.|\.\.|\.$/.test(local) && domain.split(".").every((part) => domainPart.test(part))
  );
}
export const NOT_AN_EMAIL = "must be an email address";

/** An address that mail can be sent to; surrounding blanks are removed. */
export const Email = z
  .string()
  .trim()
  .min(1)
  .max(255)
  .refine((text) => text === "" || isEmail(text), { error: NOT_AN_EMAIL });

/** Objects in which null stays an error even in optional fields; elsewhere it means that the field is not given. */
export const nullsRefused = z.registry<Record<string, never>>();

export const Timestamp = z.iso.datetime().meta({ description: "ISO 8601, UTC" });

/** A user as it was at the time; its name and address are kept after a deletion. */
export const Person = z.object({
  id: Id.nullable().meta({ description: "null: the user was deleted" }),
  name: z.string(),
  email: z.string(),
});

const decimal = /^-?\d{1,15}$/;
const asText = z.union([z.string(), z.number()]).transform(String);

/** An id in a path. */
export const IdParam = asText
  .refine((text) => decimal.test(text) && Number(text) > 0, { error: "must be a positive integer" })
  .transform(Number)
  .meta({ type: "integer", minimum: 1 });

/** An integer in a query. Other values cause a 400 `Invalid <param>: <value>`. */
export const QueryInt = asText
  .refine((text) => decimal.test(text))
  .transform(Number)
  .meta({ type: "integer" });
/** A positive integer id in a query. */
export const QueryId = asText
  .refine((text) => decimal.test(text) && Number(text) > 0)
  .transform(Number)
  .meta({ type: "integer", minimum: 1 });
/** A team in a query; 0 means no team. Premium. */
export const QueryTeam = asText
  .refine((text) => decimal.test(text) && Number(text) >= 0)
  .transform(Number)
  .meta({ type: "integer", minimum: 0, premium: true, description: "0 = no team (premium)" });
/** A flag in a query: true, 1, false or 0. */
export const QueryFlag = z
  .union([z.boolean(), z.stringbool({ truthy: ["true", "1"], falsy: ["false", "0"] })])
  .meta({ type: "boolean" });
/** Search text; surrounding blanks are removed. */
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

/**
 * Paging parameters, with the keys that the list can be sorted by. Without `page` and `per_page`, the whole list is
 * returned.
 */
export const paging = <const K extends readonly [string, ...string[]]>(...keys: K) =>
  z.object({
    page: page.optional().meta({ type: "integer", minimum: 0, description: "zero-based page" }),
    per_page: perPage
      .optional()
      .meta({ type: "integer", minimum: 1, description: "rows per page; 20 if only page is given" }),
    order_key: z.enum(keys).optional(),
    order_direction: direction
      .optional()
      .meta({ type: "string", enum: ["asc", "desc"], description: "needs order_key" }),
  });

/** Paging whose `per_page` is at most `most`. */
export const pagingUpTo = <const K extends readonly [string, ...string[]]>(most: number, ...keys: K) =>
  paging(...keys).extend({
    per_page: perPage
      .refine((value) => Number.isNaN(value) || value <= most, {
        error: `invalid per_page value: it is at most ${most}`,
      })
      .optional()
      .meta({
        type: "integer",
        minimum: 1,
        maximum: most,
        description: "rows per page; 20 if only page is given",
      }),
  });

/** Paging with `after`: returns only rows whose order_key is past this value. */
export const pagingAfter = <const K extends readonly [string, ...string[]]>(...keys: K) =>
  paging(...keys).extend({ after: z.string().max(1024).optional().meta({ description: "needs order_key" }) });

export const Meta = z.object({ has_next_results: z.boolean(), has_previous_results: z.boolean() });
export type Meta = z.infer<typeof Meta>;

/** Paging by cursor: each row is returned once even if rows are added or deleted meanwhile. */
export const cursorQuery = {
  cursor: z.string().max(256).optional().meta({
    description: "empty: the first page; otherwise meta.next_cursor of the previous page. Rows are ordered by id",
  }),
  with_count: QueryFlag.default(false).meta({
    description: "return the total number of rows in the header X-Total-Count",
  }),
};
export const CursorMeta = Meta.extend({
  next_cursor: z.string().nullable().optional().meta({ description: "only with cursor; null on the last page" }),
});
export type CursorMeta = z.infer<typeof CursorMeta>;

export const Empty = z.object({});

/** Replaces secrets in replies. A client that sends it back leaves the secret unchanged. */
export const MASK = "********";
/** Accepts any number of asterisks, because clients generate their own masks. */
export const isMask = (value: unknown): boolean => typeof value === "string" && /^\*+$/.test(value);

export const ErrorBody = z.object({
  message: z.string(),
  errors: z.array(z.object({ name: z.string(), reason: z.string() })).optional(),
  uuid: z.string().optional(),
  code: z.int().optional(),
  sso_required: z
    .boolean()
    .optional()
    .meta({ description: "the page of a device needs a sign-in: POST /device/:token/sso" }),
  changed: z
    .boolean()
    .optional()
    .meta({ description: "true: what the request depends on has changed since it was read; read it, then try again" }),
  overloaded: z
    .boolean()
    .optional()
    .meta({ description: "true: the server has too many requests of this kind at the moment; try again soon" }),
  allowed_endpoints: z
    .array(z.string())
    .optional()
    .meta({ description: "the patterns of endpoints that the API token is limited to" }),
});
export type ErrorBody = z.infer<typeof ErrorBody>;
