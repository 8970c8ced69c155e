import {
  type BootstrapRow,
  checkFile,
  dropPackage,
  keepPackage,
  packageOf,
} from "../../../devices/apple/setup/bootstrap.ts";
import { requireAppleMdm } from "../../../devices/gate.ts";
import type { Context } from "../../../platform/core/context.ts";
import { invalid } from "../../../platform/core/errors.ts";
import { needPremium } from "../../../platform/core/http/tier.ts";
import { isNull } from "../../../platform/store/query.ts";
import { locating, refusal } from "../changes.ts";
import type { Kind, Part } from "../kind.ts";
import { BATCH_SIZE, inPages, ofTier, ownersOf, type SharedRows } from "../shared-rows.ts";
import { keyOf, type Thing } from "../values.ts";
import { count, differs, type Work } from "../work.ts";
import { checkUploads, type DesiredFile, digestsOf, filesIn, readFileValue } from "./large-file.ts";

interface Rows {
  readonly packages: readonly BootstrapRow[];
  readonly digests: ReadonlyMap<number, string>;
}

function* things({ packages, digests }: Rows, shared: SharedRows): Generator<Thing> {
  const ownerOf = ownersOf(shared);
  for (const row of packages) {
    const owner = ownerOf(row);
    const value: DesiredFile = { sha256: digests.get(row.file_id) ?? "" };
    if (owner !== undefined) yield { kind: "bootstrap_package", owner, name: row.name, value };
  }
}

const teamNamed = ({ teams }: Work, owner: string | null) => ({
  team_id: owner === null ? null : teams.get(owner)!.id,
  team_name: owner,
});

async function write(work: Work, { steps, gone }: Part<Rows, DesiredFile, void>): Promise<void> {
  const { ctx } = work;
  const changed = steps.filter((step) => differs(work, step, step.desired));
  const leaving = new Set(gone.map(keyOf));
  for (const step of changed) {
    await locating(step, () => requireAppleMdm({ config: ctx.config.over(ctx.store) }));
    const team = teamNamed(work, step.owner);
    const before = await packageOf(ctx, team.team_id);
    // A package with another name takes the place of the one before, which the same request deletes.
    const isFree = before === null || before.name === step.name || leaving.has(keyOf({ ...step, name: before.name }));
    if (!isFree)
      throw refusal(step, invalid("change.name", "there is another bootstrap package already: delete it first"));
    const file_id = work.files.get(step.desired.sha256);
    // When the apply is only tried, the file was not uploaded.
    if (file_id === undefined) continue;
    if (before) await dropPackage(ctx, team, before);
    await locating(step, () => keepPackage(ctx, team, { name: step.name, file_id }));
  }
  count(work, changed);
}

async function remove(work: Work, { gone }: Part<Rows, DesiredFile, void>): Promise<void> {
  for (const change of gone) {
    // Objects of deleted teams are deleted together with the team.
    if (change.owner !== null && work.leaving.has(change.owner)) continue;
    const team = teamNamed(work, change.owner);
    const row = await packageOf(work.ctx, team.team_id);
    if (row?.name === change.name) await dropPackage(work.ctx, team, row);
  }
  count(work, gone);
}

/** Each owner has one at most. That of hosts without a team belongs to the organization, as all controls of these hosts do. */
export const bootstrapPackage: Kind<Rows, DesiredFile, void> = {
  name: "bootstrap_package",
  owners: ["global", "team"],
  per: "many",
  action: () => "setup:write",
  async load(ctx) {
    const where = ofTier(ctx, "setup:write", isNull("team_id"));
    const packages = await inPages(ctx.store.bootstrapPackages.pages({ where }, BATCH_SIZE));
    const ids = packages.map(({ file_id }) => file_id);
    return { packages, digests: await digestsOf(ctx, ids) };
  },
  things,
  async downloads(_ctx, { packages, digests }) {
    return new Map(packages.map(({ file_id, token }) => [digests.get(file_id) ?? "", token]));
  },
  read(ctx: Context, { value }) {
    needPremium(ctx);
    return readFileValue(value);
  },
  files: filesIn,
  prepare: (ctx, steps) => checkUploads(ctx, steps, (file) => checkFile(ctx, file)),
  write,
  remove,
};
