import { id, idOf, ids, int, packed, ref, table, text } from "../store/table.ts";

export const softwareTitles = table(
  "software_titles",
  {
    id: id(),
    name: text().search(),
    source: text(),
    extension_for: text().default(""),
    bundle_identifier: text().default(""),
    hosts_count: int().default(0),
    versions_count: int().default(0),
    /** Identity of the title: what is equal here is one title. */
    key: text().unique(),
  },
  { indexes: [["name", "source"]] },
);

export const software = table("software", {
  id: id(),
  title_id: ref("software_titles"),
  name: text().search(),
  version: text(),
  source: text(),
  extension_for: text().default(""),
  extension_id: text().default(""),
  bundle_identifier: text().default(""),
  release: text().default(""),
  vendor: text().default(""),
  arch: text().default(""),
  upgrade_code: text().default(""),
  hosts_count: int().default(0),
  /** Identity of the version: what is equal here is one version. */
  key: text().unique(),
});

/** What one host says of one of its software versions, by the version's id: [last opened (ISO, or null), installed paths]. */
export type InstalledDetails = Record<string, [string | null, string[]]>;

/**
 * The software of one host: one row a host, not one a pair. At 10,000 hosts with 300 entries each the pairs are millions.
 */
export const hostSoftware = table("host_software", {
  id: idOf("hosts"),
  software_ids: ids("software"),
  title_ids: ids("software_titles"),
  details: packed<InstalledDetails>(),
  /** Fingerprint of the agent's last answer, to know an unchanged inventory without reading it. */
  fingerprint: text().default(""),
});
