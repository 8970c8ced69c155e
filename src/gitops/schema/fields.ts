// Fields that the items of several lists have. Fields that are left out get their defaults.
import { z } from "zod";
import type { PlainFields } from "../../api/plain-fields.ts";

export const name = z
  .string()
  .transform((text) => text.normalize("NFC").trim())
  .pipe(z.string().min(1, { error: "must not be empty" }).max(255))
  .meta({ minLength: 1 });
export const text = (max: number) =>
  z
    .string()
    .max(max)
    .nullish()
    .transform((input) => input ?? "");
export const flag = z
  .boolean()
  .nullish()
  .transform((input) => input ?? false);
export const labelNames = (most: number) =>
  z
    .array(name)
    .max(most)
    .nullish()
    .transform((input) => [...new Set(input ?? [])].sort());
export const choice = <const V extends string>(values: readonly V[], otherwise: V) =>
  z
    .enum(values)
    .nullish()
    .transform((input): V => input ?? otherwise);

/** A comma-separated text or a YAML list of platforms, sorted in the order of the table. */
export const platforms = (allowed: readonly string[]) =>
  z
    .union([z.string(), z.array(z.string())], { error: "expected string or array of strings" })
    .nullish()
    .transform((input, context) => {
      const parts = (Array.isArray(input) ? input : (input ?? "").split(","))
        .map((part) => part.trim())
        .filter(Boolean);
      const wrong = parts.find((part) => !allowed.includes(part));
      if (wrong === undefined) return allowed.filter((platform) => parts.includes(platform)).join(",");
      context.issues.push({ code: "custom", input, message: `${wrong} is not one of ${allowed.join(", ")}` });
      return z.NEVER;
    });

export const sql = (max: number) =>
  z
    .string()
    .max(max)
    .refine((input) => input.trim() !== "", { error: "must not be empty" })
    .meta({ minLength: 1 });

type FileSchemas<F extends PlainFields> = {
  [K in keyof F]: z.ZodType<z.output<F[K]["schema"]>, z.output<F[K]["schema"]> | null | undefined>;
};

/** The schemas of plain fields in files: a field that is left out or null has its default. */
export const plainFields = <F extends PlainFields>(fields: F): FileSchemas<F> =>
  Object.fromEntries(
    Object.entries(fields).map(([key, { schema, fallback }]) => {
      const { description } = schema.meta() ?? {};
      const inFile = schema.nullish().transform((value) => value ?? fallback);
      return [key, description === undefined ? inFile : inFile.meta({ description })];
    }),
  ) as unknown as FileSchemas<F>;
