import { z } from "zod";

export const densities = ["compact", "normal", "comfortable"] as const;
export const themes = ["system", "light", "dark", "contrast"] as const;
export const timeZones = ["browser", "utc", "host"] as const;
export const timeForms = ["relative", "exact"] as const;
/** Rows on a page of a list. */
export const pageSizes = [25, 50, 100, 250, 500] as const;

/** Most lists whose columns are stored, columns of a list, and pinned entries. */
const MAX_LISTS = 50;
const MAX_COLUMNS = 50;
const MAX_PINNED = 100;

const ListName = z
  .string()
  .max(64)
  .regex(/^[a-z][a-z0-9_-]*$/, { error: "must be a name of lower-case letters, digits, - and _" });
const ColumnName = z.string().min(1).max(100);
const choices = {
  density: z.enum(densities),
  rows: z.literal(pageSizes).meta({ description: "rows on a page of a list" }),
  theme: z.enum(themes),
  zone: z.enum(timeZones).meta({ description: "time zone of times" }),
  times: z.enum(timeForms),
  keys: z.boolean().meta({ description: "whether single letters are shortcuts" }),
  pinned: z.array(z.string().min(1).max(255)).max(MAX_PINNED),
};
const tooManyLists = { error: `at most ${MAX_LISTS} lists` };
const areFew = (lists: object): boolean => Object.keys(lists).length <= MAX_LISTS;

/** What the console stores for its user. Absent keys have their defaults. */
export const ConsoleSettings = z
  .object({
    columns: z.record(ListName, z.array(ColumnName).max(MAX_COLUMNS)).refine(areFew, tooManyLists),
    ...choices,
  })
  .partial();
export type ConsoleSettings = z.infer<typeof ConsoleSettings>;

/** A change: absent keys stay as they are, null is the default again. Columns are changed list by list. */
export const ConsoleChange = z.object({
  columns: z
    .record(ListName, z.array(ColumnName).max(MAX_COLUMNS).nullable())
    .refine(areFew, tooManyLists)
    .nullable()
    .optional()
    .meta({ description: "by list, such as hosts; null: the default columns" }),
  density: choices.density.nullable().optional(),
  rows: choices.rows.nullable().optional(),
  theme: choices.theme.nullable().optional(),
  zone: choices.zone.nullable().optional(),
  times: choices.times.nullable().optional(),
  keys: choices.keys.nullable().optional(),
  pinned: choices.pinned.nullable().optional(),
});
export type ConsoleChange = z.output<typeof ConsoleChange>;

const HiddenColumns = z.array(z.string().max(100)).max(200);

export const UserSettings = z.object({
  hidden_host_columns: HiddenColumns,
  console: ConsoleSettings.optional().meta({ description: "only of yourself, and for global admins" }),
});
export type UserSettings = z.infer<typeof UserSettings>;

export const SettingsChange = z.object({
  hidden_host_columns: HiddenColumns.optional(),
  console: ConsoleChange.optional().meta({ description: "only your own; absent keys stay, null is the default" }),
});
export type SettingsChange = z.output<typeof SettingsChange>;
