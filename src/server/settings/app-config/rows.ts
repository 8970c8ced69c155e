// Stores each section as one row. Its secrets are in a separate column, which the store engines encrypt.

import type { ServerTx } from "../../platform/core/tables.ts";
import { eq, oneOf } from "../../platform/store/query.ts";
import type { RowOf } from "../../platform/store/table.ts";
import { mergedValues } from "./merge.ts";
import { apart, together } from "./secrets.ts";
import type { Section } from "./section.ts";
import type { configSections } from "./tables.ts";

type SectionRow = RowOf<typeof configSections>;

/** The section's value, including secrets. Fields that were never set have their defaults. */
function sectionValue<T extends object>(section: Section<T>, row: SectionRow | null | undefined): T {
  if (!row) return section.defaults;
  const stored = section.whole ? row.value : mergedValues(section.defaults, row.value);
  const secrets: [string[], unknown][] = row.secrets === null ? [] : JSON.parse(row.secrets);
  return together(stored as object, secrets) as T;
}

export async function readSection<T extends object>(store: ServerTx, section: Section<T>): Promise<T> {
  return sectionValue(section, await store.configSections.first({ where: eq("section", section.name) }));
}

export async function readSections(store: ServerTx, sections: readonly Section[]): Promise<Map<string, object>> {
  const rows = await store.configSections.list({
    where: oneOf(
      "section",
      sections.map(({ name }) => name),
    ),
  });
  return new Map(
    sections.map((section) => [
      section.name,
      sectionValue(
        section,
        rows.find((row) => row.section === section.name),
      ),
    ]),
  );
}

export async function writeSection<T extends object>(
  store: ServerTx,
  section: Section<T>,
  value: T,
  now: string,
): Promise<void> {
  const { plain, secrets } = apart(section, value);
  await store.configSections.upsert(
    [
      {
        section: section.name,
        updated_at: now,
        value: plain as Record<string, unknown>,
        secrets: secrets.length === 0 ? null : JSON.stringify(secrets),
      },
    ],
    { on: ["section"] },
  );
}
