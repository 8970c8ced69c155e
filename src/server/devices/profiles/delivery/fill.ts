// Fills the variables of profiles with the values of hosts.
import type { Context } from "../../../platform/core/context.ts";
import { ApiError } from "../../../platform/core/errors.ts";
import { oneOf } from "../../../platform/store/query.ts";
import { contentsOf } from "../contents.ts";
import { type Delivery, type HostProfileRow, type ProfilePlatform, type ProfileRow, platformOf } from "../platform.ts";
import { renewChallenges } from "../scep.ts";
import type { ProfileEvent } from "../state.ts";
import { fillVariables, namesIn, valuesOfHosts } from "../variables.ts";

/** The contents for the rows to install, with the hosts' values. Rows with a variable without a value fail. */
export async function fillContents(
  inside: Context,
  rows: readonly HostProfileRow[],
  digests: { id: number; variables: string }[],
) {
  const deliveries: Delivery[] = [];
  const failed: { row: HostProfileRow; event: ProfileEvent }[] = [];
  const challenged: { row: HostProfileRow; names: readonly string[] }[] = [];
  const installs = rows.filter((row) => row.operation_type === "install");
  const uuids = [...new Set(installs.map(({ profile_uuid }) => profile_uuid))];
  const list = await inside.store.configurationProfiles.list({ where: oneOf("uuid", uuids) });
  const profiles = new Map(list.map((profile) => [profile.uuid, profile]));
  const contents = await contentsOf(
    inside.store,
    list.map(({ id }) => id),
  );
  const varied = installs.filter(({ profile_uuid }) => profiles.get(profile_uuid)?.has_variables);
  const values = await valuesOfHosts(
    inside.store,
    [...new Set(varied.map(({ host_id }) => host_id))],
    list.flatMap(({ id, has_variables }) => (has_variables ? (contents.get(id)?.toString() ?? "") : [])),
  );
  for (const row of installs) {
    const profile = profiles.get(row.profile_uuid);
    const content = profile && contents.get(profile.id);
    // Deleted since: the next pass removes it.
    if (!profile || !content) continue;
    const hostValues = values.get(row.host_id);
    if (!profile.has_variables || hostValues === undefined) {
      deliveries.push({ row, profile, content });
      continue;
    }
    const platform = platformOf(inside, profile.platform);
    const filled = fillVariables(content.toString(), row.profile_uuid, hostValues, (value) =>
      platform.escape(value, profile.kind),
    );
    digests.push({ id: row.id, variables: filled.digest });
    const refusal = filled.missing.length > 0 ? missingText(filled.missing) : refusalOf(platform, profile, filled.text);
    if (refusal === null) {
      deliveries.push({ row, profile, content: Buffer.from(filled.text) });
      challenged.push({ row, names: namesIn(filled.text) });
    } else failed.push({ row, event: { type: "unsendable", detail: refusal } });
  }
  await renewChallenges(inside, challenged);
  return { deliveries, failed };
}

/** Why the profile with the host's values is not sent: a value may make something of it that profiles cannot have. */
function refusalOf(platform: ProfilePlatform, { name, is_own }: ProfileRow, text: string): string | null {
  if (is_own) return null;
  try {
    platform.read({ bytes: Buffer.from(text), name });
    return null;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const reasons = error.errors.map(({ reason }) => reason).join("; ");
    return `The profile was not sent, because the host's values are not possible in it: ${reasons}.`;
  }
}

const missingText = (missing: readonly string[]): string =>
  `The profile was not sent: the host has no value for ${missing.join(", ")}.`;
