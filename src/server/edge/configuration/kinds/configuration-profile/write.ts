import { exchangeProfiles } from "../../../../devices/profiles/exchange.ts";
import { type ProfileRow, platformOf } from "../../../../devices/profiles/platform.ts";
import { checkIsOn, parseUpload, type Upload } from "../../../../devices/profiles/rules.ts";
import { type ChangedProfile, changeProfiles, type NewProfile } from "../../../../devices/profiles/service.ts";
import { resolveKept } from "../../../../hosts/labels/targeting.ts";
import { recordEntries } from "../../../../platform/activities/record.ts";
import type { Context } from "../../../../platform/core/context.ts";
import { invalid } from "../../../../platform/core/errors.ts";
import { locating, refusal, type Step } from "../../changes.ts";
import type { Part } from "../../kind.ts";
import { ownersOf } from "../../shared-rows.ts";
import { keyOf } from "../../values.ts";
import { count, differs, type Work } from "../../work.ts";
import type { DesiredProfile, ProfileRows, ProfileUploads } from "./value.ts";

export async function readUploads(ctx: Context, steps: readonly Step<DesiredProfile>[]): Promise<ProfileUploads> {
  const uploads = new Map<number, Upload>();
  for (const step of steps) {
    const { value, content, activation } = step.desired;
    if (content === undefined || activation === undefined) continue;
    const upload = await locating(step, () =>
      parseUpload(ctx, { bytes: content, name: step.name, activation }, "value"),
    );
    if (upload.platform.name !== value.platform)
      throw refusal(step, invalid("platform", `the file is a profile for ${upload.platform.name}`));
    if (upload.name !== step.name)
      throw refusal(step, invalid("change.name", `the name in the file is ${JSON.stringify(upload.name)}`));
    uploads.set(step.index, upload);
  }
  return uploads;
}

/** What changes in one team, or for hosts without a team. */
interface TeamChanges {
  readonly before: ProfileRow[];
  readonly desired: NewProfile[];
  /** Profiles whose content stays. */
  readonly relabeled: ChangedProfile[];
}

export async function writeProfiles(
  work: Work,
  { rows, steps, gone, prepared }: Part<ProfileRows, DesiredProfile, ProfileUploads>,
): Promise<void> {
  const changed = steps.filter((step) => differs(work, step, step.desired.value));
  const ownerOf = ownersOf(work.shared);
  const profilesByKey = new Map(
    rows.profiles.map((row) => [
      keyOf({ kind: "configuration_profile", owner: ownerOf(row) ?? null, name: row.name }),
      row,
    ]),
  );
  const byOwner = new Map<string | null, TeamChanges>();
  const changesOf = (owner: string | null) => {
    const teamChanges = byOwner.get(owner) ?? { before: [], desired: [], relabeled: [] };
    byOwner.set(owner, teamChanges);
    return teamChanges;
  };
  // Profiles of deleted teams are deleted together with the team.
  for (const change of gone)
    if (change.owner === null || !work.leaving.has(change.owner))
      changesOf(change.owner).before.push(profilesByKey.get(keyOf(change))!);
  for (const step of changed) {
    const profile = profilesByKey.get(keyOf(step));
    const stored = (profile && rows.labels.get(profile.id)) ?? [];
    const labels = await locating(step, () => resolveKept(work.ctx, step.desired.value, "profile", stored));
    const upload = prepared.get(step.index);
    const { before, desired, relabeled } = changesOf(step.owner);
    if (upload !== undefined) {
      // In the transaction, because the same request may turn device management on.
      await locating(step, () => checkIsOn({ config: work.ctx.config.over(work.ctx.store) }, upload));
      if (profile !== undefined) before.push(profile);
      desired.push({ upload, labels });
    } else if (profile && hasContents(rows, profile, step.desired)) relabeled.push({ profile, upload: null, labels });
    else throw refusal(step, invalid("sha256", "the request does not contain the files with these digests"));
  }
  for (const [owner, changes] of byOwner) await writeTeam(work, owner, changes);
  count(work, [...changed, ...gone]);
}

/** Whether only labels change. */
const hasContents = ({ activations }: ProfileRows, { id, checksum }: ProfileRow, { value }: DesiredProfile): boolean =>
  checksum === value.sha256 && (activations.get(id)?.sha256 ?? null) === value.activation_sha256;

async function writeTeam({ ctx, teams }: Work, owner: string | null, changes: TeamChanges): Promise<void> {
  const team = { team_id: owner === null ? null : teams.get(owner)!.id, team_name: owner };
  const rows = [
    ...(await exchangeProfiles(ctx, team.team_id, changes.before, changes.desired)),
    ...(await changeProfiles(ctx, changes.relabeled)),
  ];
  const edited = new Map(rows.map((row) => [`${row.platform} ${row.kind}`, row]));
  await recordEntries(
    ctx,
    [...edited.values()].map(({ platform, kind }) => platformOf(ctx, platform).edited(kind, team)),
  );
}
