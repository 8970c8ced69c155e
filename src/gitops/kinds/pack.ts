// Packs: sets of scheduled queries. Only documents of the older format contain them; files have queries with an interval.
import { z } from "zod";
import { PackInput, PackQueryInput } from "../../api/checks/packs.ts";
import { thing } from "../desired/values.ts";
import type { Value } from "../files/overlay.ts";
import { checked } from "../files/section-values.ts";
import { placeOf } from "../files/tree.ts";
import { anyOf } from "../plan/activities.ts";
import type { Kind } from "./kind.ts";

const KIND = "pack";

interface PackDocument {
  readonly name: string;
  readonly value: Value;
}

const text = (value: unknown): string => (typeof value === "string" ? value : "");

const wholeQuery = (entry: Value): Value => ({
  query: text(entry.query).trim(),
  name: text(entry.name).trim() || text(entry.query).trim(),
  description: entry.description ?? "",
  interval: entry.interval || 3600,
  snapshot: entry.snapshot ?? false,
  removed: entry.removed ?? true,
  shard: entry.shard ?? null,
  platform: entry.platform ?? "",
  version: entry.version ?? "",
  denylist: entry.denylist ?? true,
});

/** A document is the whole pack: what it leaves out is removed. */
function wholePack({ description, platform, disabled, targets, queries }: Value): Value {
  const { labels, teams } = (targets ?? {}) as Value;
  return {
    description: description ?? "",
    platform: platform ?? "",
    disabled: disabled ?? false,
    targets: { labels: labels ?? [], teams: teams ?? [] },
    queries: ((queries ?? []) as Value[]).map(wholeQuery),
  };
}

const PackSpec = PackInput.extend({
  targets: z.strictObject(PackInput.shape.targets.unwrap().unwrap().shape).nullish(),
  queries: z.array(PackQueryInput.strict()).max(10_000).nullish(),
}).strict();

export const pack: Kind = {
  noun: KIND,
  document: {
    kind: KIND,
    read(spec, { options }) {
      const pack = checked(PackSpec, spec, "spec", options);
      if (pack === null) return null;
      const name = text(pack.name).normalize("NFC").trim();
      if (name === "") options.problems.error(spec.at, "spec.name: is required");
      return { name: null, at: placeOf(spec, ["name"]), settings: { packs: [{ name, value: wholePack(pack) }] } };
    },
  },
  ofDocuments: ({ ofOrganization }) =>
    ofOrganization.flatMap(({ settings: { packs } }) =>
      ((packs ?? []) as PackDocument[]).map(({ name, value }) => thing(KIND, null, value, name)),
    ),
  isComplete: () => false,
  typesOf: () => ["applied_spec_pack", ...anyOf(KIND)],
  isAbout: (details, type, { name }) => type === "applied_spec_pack" || details.pack_name === name,
};
