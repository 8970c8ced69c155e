// Packs, with their targets and queries by name. Only documents of the older format contain them.
import { PackInput, type PackSpec } from "../../../../api/checks/packs.ts";
import { checkedPackName, removePack } from "../../../checks/packs/service.ts";
import { DEFAULT_INTERVAL, listPackSpecs, replacePack } from "../../../checks/packs/specs.ts";
import { recordActivity } from "../../../platform/activities/record.ts";
import { channels } from "../../../platform/core/channels.ts";
import { isPremium } from "../../../platform/core/context.ts";
import { premiumOption } from "../../../platform/core/errors.ts";
import { may } from "../../../platform/core/security/access.ts";
import { type DesiredValue, locating } from "../changes.ts";
import type { Kind } from "../kind.ts";
import { parsed } from "../parse.ts";
import type { Thing } from "../values.ts";
import { count, differs } from "../work.ts";

const KIND = "pack";

interface DesiredPack extends DesiredValue {
  readonly pack: PackInput;
}

const PackValue = PackInput.omit({ id: true, name: true }).strict();

const packValue = ({ description, platform, disabled, targets, queries }: PackSpec) => ({
  description,
  platform,
  disabled,
  targets,
  queries,
});

/** Complete, in the form in which the state shows it. */
function wholeValue({ description, platform, disabled, targets, queries }: PackInput) {
  return {
    description: description ?? "",
    platform: platform ?? "",
    disabled: disabled ?? false,
    targets: { labels: targets?.labels ?? [], teams: targets?.teams ?? [] },
    queries: (queries ?? []).map((entry) => ({
      query: entry.query,
      name: entry.name ?? entry.query,
      description: entry.description ?? "",
      interval: entry.interval || DEFAULT_INTERVAL,
      snapshot: entry.snapshot ?? false,
      removed: entry.removed ?? true,
      shard: entry.shard ?? null,
      platform: entry.platform ?? "",
      version: entry.version ?? "",
      denylist: entry.denylist ?? true,
    })),
  };
}

export const pack: Kind<readonly PackSpec[], DesiredPack> = {
  name: KIND,
  owners: ["global"],
  per: "many",
  action: () => "packs:write",
  load: async (ctx) => (may(ctx.user, "packs:write", null) ? listPackSpecs(ctx) : []),
  things: (rows) => rows.map((row): Thing => ({ kind: KIND, owner: null, name: row.name, value: packValue(row) })),
  read(ctx, { name, value }) {
    checkedPackName(name);
    const input = parsed(PackValue, value);
    if (!isPremium(ctx) && (input.targets?.teams?.length ?? 0) > 0) throw premiumOption("targets.teams");
    return { pack: input, value: wholeValue(input) };
  },
  async write(work, { steps }) {
    const changed = steps.filter((step) => differs(work, step, step.desired.value));
    for (const step of changed) await locating(step, () => replacePack(work.ctx, step.desired.pack, step.name));
    count(work, changed);
    if (changed.length === 0) return;
    await recordActivity(work.ctx, "applied_spec_pack", {});
    await work.ctx.store.notify(channels.queries, "");
  },
  async remove(work, { rows, gone }) {
    for (const { name } of gone) await removePack(work.ctx, rows.find((row) => row.name === name)!);
    count(work, gone);
    if (gone.length > 0) await work.ctx.store.notify(channels.queries, "");
  },
};
