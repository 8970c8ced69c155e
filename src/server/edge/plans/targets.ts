// The hosts that an object of each kind is for: by its place, its platform, device management and labels.
import type { ThingKey } from "../../../api/edge/configuration.ts";
import { NO_TEAM_NAME } from "../../../api/settings/no-team.ts";
import { isRecord, listIn } from "../../../text/record.ts";
import { profilePlatforms } from "../../devices/profiles/platform.ts";
import { onPlatform } from "../../hosts/hosts/status.ts";
import type { Context } from "../../platform/core/context.ts";
import { phonePlatforms } from "../../platform/core/platforms.ts";
import { eq, everything, isNull, not, nothing, oneOf, or, type Predicate } from "../../platform/store/query.ts";

export interface Target {
  readonly place: Predicate;
  readonly platform: Predicate;
  readonly isManaged: Predicate;
  /** Names of labels. */
  readonly labels: LabelLists;
  /** What the hosts follow from, to compare two targets of an object. */
  readonly source: unknown;
}

export interface LabelLists {
  readonly any: readonly string[];
  readonly all: readonly string[];
  readonly none: readonly string[];
}

export const NO_LABELS: LabelLists = { any: [], all: [], none: [] };

/** Phones and tablets have no agent that runs queries. */
const hasAgent: Predicate = not(oneOf("platform", [...phonePlatforms, "android"]));

const profileHosts: Readonly<Record<string, Predicate>> = {
  darwin: oneOf("platform", ["darwin", ...phonePlatforms]),
  windows: eq("platform", "windows"),
  android: eq("platform", "android"),
};

/** Kinds of which objects without a team are for hosts without a team. For all others they are for every host. */
const ofHostsWithoutTeam: ReadonlySet<string> = new Set([
  "configuration_profile",
  "certificate_template",
  "declaration_asset",
]);

/** Kinds without platforms and labels. Whoever has one has it as a whole place. */
const wholePlaces: ReadonlySet<string> = new Set([
  "team_settings",
  "agent_options",
  "config",
  "certificate_template",
  "declaration_asset",
]);

type TargetOf = (
  value: Readonly<Record<string, unknown>>,
  ctx: Pick<Context, "extensions">,
) => Pick<Target, "platform" | "isManaged">;

const ofQuery: TargetOf = ({ platform }) => ({
  platform:
    typeof platform === "string" && platform !== ""
      ? or(...platform.split(",").map((word) => onPlatform(word.trim())))
      : hasAgent,
  isManaged: everything,
});

const ofSoftware: TargetOf = () => ({ platform: everything, isManaged: everything });

const labelledKinds: Readonly<Record<string, TargetOf>> = {
  policy: ofQuery,
  query: ofQuery,
  configuration_profile: ({ platform }, { extensions }) => ({
    platform: profileHosts[String(platform)] ?? everything,
    isManaged: extensions.named(profilePlatforms, String(platform))?.hosts ?? everything,
  }),
  package: ofSoftware,
  store_app: ofSoftware,
};

/** Null: no hosts are counted for objects of this kind. */
export function targetOf(
  ctx: Pick<Context, "extensions">,
  key: ThingKey,
  value: unknown,
  teamIds: ReadonlyMap<string, number>,
): Target | null {
  const place = placeOf(key, teamIds);
  if (wholePlaces.has(key.kind))
    return { place, platform: everything, isManaged: everything, labels: NO_LABELS, source: null };
  const ofKind = labelledKinds[key.kind];
  if (ofKind === undefined) return null;
  const fields = isRecord(value) ? value : {};
  const labels = {
    any: namesIn(fields.labels_include_any),
    all: namesIn(fields.labels_include_all),
    none: namesIn(fields.labels_exclude_any),
  };
  return { place, ...ofKind(fields, ctx), labels, source: [fields.platform, labels] };
}

const namesIn = (value: unknown): string[] => listIn(value).filter((name) => typeof name === "string");

/** A team that the plan creates has no hosts yet. */
function placeOf({ kind, owner }: ThingKey, teamIds: ReadonlyMap<string, number>): Predicate {
  if (owner === NO_TEAM_NAME || (owner === null && ofHostsWithoutTeam.has(kind))) return isNull("team_id");
  if (owner === null) return everything;
  const teamId = teamIds.get(owner);
  return teamId === undefined ? nothing : eq("team_id", teamId);
}
