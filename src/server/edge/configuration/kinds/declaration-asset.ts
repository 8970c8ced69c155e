// Asset declarations of Apple devices. An object is named by the identifier of its declaration.
import { z } from "zod";
import {
  type AssetFile,
  type AssetOutline,
  assetContents,
  dropAsset,
  keepAsset,
  outline,
  readAssetFile,
} from "../../../devices/apple/declarations/assets.ts";
import { requireAppleMdm } from "../../../devices/gate.ts";
import type { Context } from "../../../platform/core/context.ts";
import { invalid } from "../../../platform/core/errors.ts";
import { isNull } from "../../../platform/store/query.ts";
import { locating, refusal } from "../changes.ts";
import type { Kind, Part } from "../kind.ts";
import { parsed } from "../parse.ts";
import { ofTier, ownersOf, type SharedRows } from "../shared-rows.ts";
import { keyOf, type Thing } from "../values.ts";
import { count, differs, type Work } from "../work.ts";

const AssetValue = z.strictObject({
  file_name: z.string().trim().min(1).max(255),
  sha256: z.string().regex(/^[0-9a-f]{64}$/, { error: "must be a SHA-256 digest in hex" }),
});

interface DesiredAsset {
  readonly value: z.output<typeof AssetValue>;
  /** Undefined if the request does not contain it: then the asset keeps its content. */
  readonly file: AssetFile | undefined;
}

type Rows = readonly AssetOutline[];
const KIND = "declaration_asset";

function* things(rows: Rows, shared: SharedRows): Generator<Thing> {
  const ownerOf = ownersOf(shared);
  for (const row of rows) {
    const owner = ownerOf(row);
    const value = { file_name: row.name, sha256: row.checksum };
    if (owner !== undefined) yield { kind: KIND, owner, name: row.identifier, value };
  }
}

const rowsByKey = ({ shared }: Work, rows: Rows) => {
  const ownerOf = ownersOf(shared);
  return new Map(rows.map((row) => [keyOf({ kind: KIND, owner: ownerOf(row) ?? null, name: row.identifier }), row]));
};

async function write(work: Work, { rows, steps }: Part<Rows, DesiredAsset, unknown>): Promise<void> {
  const { ctx, teams } = work;
  const changed = steps.filter((step) => differs(work, step, step.desired.value));
  const assetsByKey = rowsByKey(work, rows);
  for (const step of changed) {
    await locating(step, () => requireAppleMdm({ config: ctx.config.over(ctx.store) }));
    const before = assetsByKey.get(keyOf(step)) ?? null;
    const { file, value } = step.desired;
    if (file === undefined && before?.checksum !== value.sha256)
      throw refusal(step, invalid("sha256", "the request does not contain the file with this digest"));
    const teamId = step.owner === null ? null : teams.get(step.owner)!.id;
    await keepAsset(ctx, teamId, before, { name: value.file_name, identifier: step.name, file: file ?? null });
  }
  count(work, changed);
}

/** After profiles have been written, which may refer to an asset that is deleted no more. */
async function remove(work: Work, { rows, gone }: Part<Rows, DesiredAsset, unknown>): Promise<void> {
  const assetsByKey = rowsByKey(work, rows);
  // Objects of deleted teams are deleted together with the team.
  for (const change of gone)
    if (change.owner === null || !work.leaving.has(change.owner))
      await locating(change, () => dropAsset(work.ctx.store, assetsByKey.get(keyOf(change))!));
  count(work, gone);
}

/** Assets of hosts without a team belong to the organization. The lock is that of profiles. */
export const declarationAsset: Kind<Rows, DesiredAsset> = {
  name: KIND,
  owners: ["global", "team"],
  per: "many",
  noun: "asset declaration",
  action: () => "profiles:write",
  load: (ctx: Context) =>
    ctx.store.declarationAssets.pick(outline, { where: ofTier(ctx, "profiles:write", isNull("team_id")) }),
  things,
  contents: ({ store }, rows) => assetContents(store, rows),
  read(_, { name, value }, _texts, contents): DesiredAsset {
    const input = parsed(AssetValue, value);
    const bytes = contents.get(input.sha256);
    const file = bytes === undefined ? undefined : readAssetFile(bytes, "value");
    if (file !== undefined && file.identifier !== name)
      throw invalid("change.name", `the identifier in the file is ${JSON.stringify(file.identifier)}`);
    return { value: input, file };
  },
  write,
  remove,
};
