// The desired state of documents in the older format: their values over the server's.

import { NO_TEAM_NAME } from "../../api/configuration.ts";
import { isRecord } from "../../text/record.ts";
import type { Collected, Placed } from "../files/collect.ts";
import type { Spec } from "../files/documents.ts";
import type { Value } from "../files/overlay.ts";
import type { Problems } from "../files/problems.ts";
import type { YaraText } from "../files/yara.ts";
import { itemKinds } from "../kinds.ts";
import type { Thing } from "../plan/diff.ts";
import { GlobalControls, OrgSettings, orgSections, TeamControls, TeamSettings } from "../schema/settings.ts";
import { type Current, checkTeamNames, secretsThings } from "./current.ts";
import { checkLabelUse } from "./labels.ts";
import { agentOptions, asKept, over, thing, wholeHooks, yaraValue } from "./settings.ts";

export function desiredOfDocuments(
  specs: readonly Spec[],
  items: Collected,
  current: Current,
  problems: Problems,
): Thing[] {
  const named = specs.flatMap((spec) => (spec.name === null ? [] : [{ ...spec, name: spec.name, nameAt: spec.at }]));
  const teams = current.isPremium ? named : [];
  for (const { at } of named)
    if (!current.isPremium) problems.warn(at, "this document is skipped: teams need the premium tier");
  checkTeamNames(teams, current.state, problems);
  checkOnce(teams, problems);
  const there = new Set(
    [...current.state.things.filter(({ kind }) => kind === "team"), ...teams].map(({ name }) => name),
  );
  const own = new Map(
    [...items].map(([kind, all]) => [kind, all.filter((one) => isUsable(one, there, current, problems))] as const),
  );
  checkLabelUse(own, current.state, false, problems);
  return [
    ...specs.filter(({ name }) => name === null).flatMap((spec) => ofOrganization(spec, current)),
    ...teams.flatMap((spec) => ofTeam(spec.name, spec, current)),
    ...itemKinds.flatMap(({ kind, items: { desired } }) => desired(own.get(kind) ?? [], current, problems)),
  ];
}

function checkOnce(teams: readonly { name: string; at: Spec["at"] }[], problems: Problems): void {
  const seen = new Map<string, Spec["at"]>();
  for (const { name, at } of teams) {
    const before = seen.get(name.toLowerCase());
    if (before) problems.error(at, `team ${name} is already defined in ${before.file}:${before.line}`);
    else seen.set(name.toLowerCase(), at);
  }
}

function isUsable(
  { owner, at }: Placed<unknown>,
  teams: ReadonlySet<string>,
  { isPremium }: Current,
  problems: Problems,
): boolean {
  if (owner === null) return true;
  if (!isPremium) problems.warn(at, "this document is skipped: teams need the premium tier");
  else if (owner !== NO_TEAM_NAME && !teams.has(owner)) problems.error(at, `there is no team ${owner}`);
  return isPremium;
}

function ofOrganization({ settings, secrets }: Spec, current: Current): Thing[] {
  const { defaults } = current.state;
  const things = Object.entries(settings).flatMap(([name, given]): Thing[] => {
    if (name === "yara_rules" && Array.isArray(given))
      return [thing("config", null, name, yaraValue(given as readonly YaraText[]))];
    if (!isRecord(given)) return [];
    if (name === "agent_options") return [thing("agent_options", null, name, agentOptions(given))];
    const before = current.value("config", null, name) ?? defaults.config[name];
    if (name === "mdm") {
      const own = over(OrgSettings.shape.mdm!, before, given);
      return [thing("config", null, name, withUpdates(asKept(name, over(GlobalControls, own, given)), given))];
    }
    const schema = orgSections[name as keyof typeof orgSections];
    return [thing("config", null, name, asKept(name, over(schema, before, given)))];
  });
  return [...things, ...secretsThings(null, secrets)];
}

function ofTeam(owner: string, { settings, secrets }: Spec, current: Current): Thing[] {
  const { defaults } = current.state;
  const base = defaults.team_settings;
  const before = (current.value("team_settings", owner) ?? base) as Value;
  const { description, agent_options: options, mdm, ...given } = settings;
  const there = current.value("team", null, owner);
  const wanted = over(TeamSettings, before, given);
  const controls = isRecord(mdm) ? withUpdates(over(TeamControls, before.mdm, mdm), mdm) : wanted.mdm;
  const whole = { ...wanted, webhook_settings: wholeHooks(wanted, defaults), mdm: controls };
  return [
    thing("team", null, owner, { description: description ?? (isRecord(there) ? there.description : "") }),
    thing("team_settings", owner, "team_settings", whole),
    ...(options === undefined
      ? []
      : [thing("agent_options", owner, "agent_options", isRecord(options) ? agentOptions(options) : null)]),
    ...secretsThings(owner, secrets),
  ];
}

/** If a document does not define it, new hosts are updated when both version and deadline are set. */
function withUpdates(value: Value, given: Value): Value {
  const wanted = given.macos_updates;
  const { macos_updates: updates } = value;
  if (!isRecord(wanted) || !isRecord(updates) || typeof wanted.update_new_hosts === "boolean") return value;
  const update_new_hosts = updates.minimum_version !== "" && updates.deadline !== "";
  return { ...value, macos_updates: { ...updates, update_new_hosts } };
}
