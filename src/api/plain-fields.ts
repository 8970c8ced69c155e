// Plain fields of a resource: the value that a request sets is stored, returned and written in files under one name.
// Schemas, columns, defaults, flags of commands and file schemas follow from the record of the field, so that a new
// field is added there, and in a migration.

import { z } from "zod";
import { QueryFlag } from "./fields.ts";

type PlainValue = boolean | number | string;

export interface PlainField<T extends PlainValue = PlainValue> {
  readonly kind: "flag" | "number" | "text" | "choice";
  readonly schema: z.ZodType<T>;
  /** The value if a new resource or an item in a file leaves the field out. */
  readonly fallback: T;
  /** The help of the commands' flag: a sentence. */
  readonly summary: string;
  /** The placeholder of the flag's value, such as SQL. */
  readonly helpValue: string | undefined;
  /** The allowed values of a choice. */
  readonly values: readonly string[];
  /** A value other than the fallback needs the premium tier. */
  readonly isPremium: boolean;
}

export type PlainFields = Readonly<Record<string, PlainField>>;
export type PlainValues<F extends PlainFields> = { [K in keyof F]: z.output<F[K]["schema"]> };

interface Texts {
  readonly summary: string;
  /** What the API's documentation and the schemas of files add to the name. */
  readonly description?: string;
  readonly helpValue?: string;
  readonly premium?: true;
}

const plain = <T extends PlainValue>(
  kind: PlainField["kind"],
  schema: z.ZodType<T>,
  fallback: T,
  { summary, description, helpValue, premium }: Texts,
  values: readonly string[] = [],
): PlainField<T> => {
  const words = [description, premium && "premium"].filter(Boolean).join("; ");
  const described = words === "" ? schema : schema.meta({ description: words });
  return { kind, schema: described, fallback, summary, helpValue, values, isPremium: premium ?? false };
};

export const plainFlag = (texts: Texts): PlainField<boolean> => plain("flag", z.boolean(), false, texts);
/** `max`: characters. */
export const plainText = (max: number, texts: Texts): PlainField<string> =>
  plain("text", z.string().max(max), "", texts);
export const plainNumber = (schema: z.ZodInt, fallback: number, texts: Texts): PlainField<number> =>
  plain("number", schema, fallback, texts);
export const plainChoice = <const V extends string>(
  values: readonly V[],
  fallback: NoInfer<V>,
  texts: Texts,
): PlainField<V> => plain<V>("choice", z.enum(values) as unknown as z.ZodType<V>, fallback, texts, values);

export const fieldNames = <F extends PlainFields>(fields: F): readonly (keyof F & string)[] => Object.keys(fields);

/** What replies contain. Requests make the schemas optional. */
export const schemasOf = <F extends PlainFields>(fields: F): { [K in keyof F]: F[K]["schema"] } =>
  mapped(fields, ({ schema }) => schema) as { [K in keyof F]: F[K]["schema"] };

/** The schemas of values in which a field that is left out has its default, as in those of clients that do not know it yet. */
export const defaultedSchemasOf = <F extends PlainFields>(
  fields: F,
): { [K in keyof F]: z.ZodDefault<F[K]["schema"]> } =>
  mapped(fields, ({ schema, fallback }) => schema.default(fallback)) as {
    [K in keyof F]: z.ZodDefault<F[K]["schema"]>;
  };

/** The schemas of requests in which null means that a field is left out. */
export const nullishSchemasOf = <F extends PlainFields>(
  fields: F,
): { [K in keyof F]: z.ZodOptional<z.ZodNullable<F[K]["schema"]>> } =>
  mapped(fields, ({ schema }) => schema.nullish()) as {
    [K in keyof F]: z.ZodOptional<z.ZodNullable<F[K]["schema"]>>;
  };

/** Forms have no numbers: they would be texts. */
type FormFields = Readonly<Record<string, PlainField<boolean> | PlainField<string>>>;

/** The schemas of fields in forms, in which flags are texts. */
export const formSchemasOf = <F extends FormFields>(fields: F): { [K in keyof F]: F[K]["schema"] } =>
  mapped(fields, ({ kind, schema }) => (kind === "flag" ? QueryFlag.meta(schema.meta() ?? {}) : schema)) as {
    [K in keyof F]: F[K]["schema"];
  };

export const fallbacksOf = <F extends PlainFields>(fields: F): PlainValues<F> =>
  mapped(fields, ({ fallback }) => fallback) as PlainValues<F>;

export const premiumNames = <F extends PlainFields>(fields: F): readonly (keyof F & string)[] =>
  fieldNames(fields).filter((name) => fields[name]!.isPremium);

const mapped = (fields: PlainFields, value: (field: PlainField) => unknown) =>
  Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, value(field)]));

/** An object with these keys. */
export const recordOf = <const K extends string, V>(keys: readonly K[], value: (key: K) => V): Record<K, V> =>
  Object.fromEntries(keys.map((key) => [key, value(key)])) as Record<K, V>;

/** The named properties of an object. */
export function pick<T extends object, const K extends keyof T>(source: T, names: readonly K[]): Pick<T, K> {
  const picked = {} as Pick<T, K>;
  for (const name of names) picked[name] = source[name];
  return picked;
}

/** The named properties that the object sets: those that are neither undefined nor null. */
export function pickSet<T extends object, const K extends keyof T>(
  source: T,
  names: readonly K[],
): { [N in K]?: NonNullable<T[N]> } {
  const picked: { [N in K]?: NonNullable<T[N]> } = {};
  for (const name of names) if (source[name] != null) picked[name] = source[name];
  return picked;
}
