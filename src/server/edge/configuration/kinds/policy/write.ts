import type { PolicySpec } from "../../../../../api/checks/policies.ts";
import { policyPlatforms } from "../../../../../api/checks/policies.ts";
import type { ThingKey } from "../../../../../api/edge/configuration.ts";
import { NO_TEAM_NAME } from "../../../../../api/settings/no-team.ts";
import { type Place, type PolicyRow, placeOf } from "../../../../checks/policies/applies.ts";
import { type ReportedPolicies, setReported } from "../../../../checks/policies/automations.ts";
import { offeredApp } from "../../../../checks/policies/maintained-apps.ts";
import { patchColumns } from "../../../../checks/policies/patch.ts";
import type { Columns } from "../../../../checks/policies/rules.ts";
import { dropResults, removePolicies, settleResults } from "../../../../checks/policies/service.ts";
import {
  insertPolicies,
  type NewPolicy,
  type PolicyChange,
  updatePolicies,
} from "../../../../checks/policies/write.ts";
import { labelsAmong, type NamedLabel } from "../../../../hosts/labels/scope.ts";
import { recordActivity } from "../../../../platform/activities/record.ts";
import { channels } from "../../../../platform/core/channels.ts";
import { inTurns } from "../../../../platform/core/concurrency/parts.ts";
import { invalid } from "../../../../platform/core/errors.ts";
import { inTeam } from "../../../../platform/core/security/access.ts";
import { and, eq } from "../../../../platform/store/query.ts";
import { briefly } from "../../brief.ts";
import { locating, type Step } from "../../changes.ts";
import type { Part } from "../../kind.ts";
import { platformsOf } from "../../parse.ts";
import { keyOf } from "../../values.ts";
import { count, creating, differs, labelsByName, updating, type Work } from "../../work.ts";
import { OfferedSoftware } from "./software.ts";
import { type DesiredPolicy, desiredPolicyValue, ownerOf, type PolicyRows, reportedPolicies } from "./value.ts";

const KIND = "policy";

export async function writePolicies(
  work: Work,
  { rows: existing, steps, gone }: Part<PolicyRows, DesiredPolicy, unknown>,
): Promise<void> {
  if (steps.length + gone.length === 0) return;
  const { ctx } = work;
  const writing = new PolicyWriting(work, existing, await labelsByName(ctx));
  const created = creating(steps);
  await writing.create(created);
  const changed = await writing.update(updating(steps));
  // Policies of deleted teams are deleted together with the team.
  await writing.remove(gone.filter(({ owner }) => owner === null || !work.leaving.has(owner)));

  await setReported(ctx, writing.reported.all());
  const applied = [...created, ...changed];
  if (applied.length > 0) await recordActivity(ctx, "applied_spec_policy", pathOfType(applied));
  await ctx.store.notify(channels.policies, "");
  count(work, [...applied, ...gone]);
}

type PolicyStep = Step<DesiredPolicy>;

class PolicyWriting {
  readonly reported: Reporting;
  readonly #work: Work;
  readonly #existing: PolicyRows;
  readonly #labels: ReadonlyMap<string, NamedLabel>;
  readonly #offered: OfferedSoftware;
  readonly #teams: ReadonlyMap<number, string>;
  readonly #rowsByKey: ReadonlyMap<string, PolicyRow>;

  constructor(work: Work, existing: PolicyRows, labels: ReadonlyMap<string, NamedLabel>) {
    this.reported = new Reporting(work);
    this.#work = work;
    this.#existing = existing;
    this.#labels = labels;
    this.#offered = new OfferedSoftware(work);
    this.#teams = new Map(work.shared.teams.map(({ id, name }) => [id, name]));
    this.#rowsByKey = new Map(
      existing.policies.map((row) => [keyOf({ kind: KIND, owner: ownerOf(row, this.#teams), name: row.name }), row]),
    );
  }

  async create(steps: readonly PolicyStep[]): Promise<void> {
    const fresh: NewPolicy[] = [];
    for await (const step of inTurns(steps)) {
      const { owner, desired } = step;
      const { ids, automations } = await locating(step, async () => ({
        ids: idsOf(desired, this.#labels),
        automations: await this.#automationsOf(owner, desired),
      }));
      const columns: Columns = { ...desired.columns, catalogue_app_id: null, ...automations };
      fresh.push({ place: placeNamed(this.#work, owner), columns, labels: { ids, rule: desired.labels.rule } });
    }
    const rows = await insertPolicies(this.#work.ctx, fresh);
    for (const [i, { owner, desired }] of steps.entries())
      if (desired.isReported) this.reported.say(owner, true, rows[i]!.id);
  }

  /** Returns the steps that change something. */
  async update(steps: readonly PolicyStep[]): Promise<PolicyStep[]> {
    const work = this.#work;
    const wasReported = reportedPolicies(work.shared);
    const changed: PolicyStep[] = [];
    const changes: PolicyChange[] = [];
    for await (const step of inTurns(steps)) {
      const { owner, desired } = step;
      if (!differs(work, step, desiredPolicyValue(desired))) continue;
      changed.push(step);
      const before = this.#rowOf(step);
      if (wasReported(before) !== desired.isReported) this.reported.say(owner, desired.isReported, before.id);
      const change = await locating(step, async () => {
        const automations = await this.#automationsOf(owner, desired, before);
        return changeOf(this.#existing, before, desired, this.#labels, automations);
      });
      if (change) changes.push(change);
    }
    const settled = await updatePolicies(work.ctx, changes);
    if (settled.length > 0) work.later.push((outside) => settleResults(outside, settled));
    return changed;
  }

  async remove(policies: readonly ThingKey[]): Promise<void> {
    const rows = policies.map((policy) => this.#rowOf(policy));
    for (const [i, { owner }] of policies.entries()) this.reported.say(owner, false, rows[i]!.id);
    const teamOf = ({ team_id }: PolicyRow) => (team_id === null ? null : (this.#teams.get(team_id) ?? null));
    await removePolicies(this.#work.ctx, rows, teamOf);
    const results = rows.map(({ result_id }) => result_id);
    this.#work.later.push((outside) => dropResults(outside, results));
  }

  #rowOf(key: ThingKey): PolicyRow {
    return this.#rowsByKey.get(keyOf(key))!;
  }

  async #automationsOf(owner: string | null, desired: DesiredPolicy, before?: PolicyRow) {
    const work = this.#work;
    const { install_software: software } = desired;
    const { team_id } = placeNamed(work, owner);
    return {
      script_id: await scriptOf(work, owner, desired),
      resend_profile_uuid: await profileOf(work, owner, desired),
      software_title_id: software === true ? null : await this.#offered.titleOf(team_id, software),
      ...(await ofPatch(work, owner, desired, before)),
    };
  }
}

const idsOf = ({ labels: { names, rule } }: DesiredPolicy, labels: ReadonlyMap<string, NamedLabel>): number[] =>
  labelsAmong(labels, names, "policy", `labels_${rule}`).map(({ id }) => id);

/** This apply may have created the script. */
async function scriptOf(work: Work, owner: string | null, { run_script }: DesiredPolicy): Promise<number | null> {
  if (run_script === null) return null;
  const ofTeam = inTeam(placeNamed(work, owner).team_id ?? 0);
  const script = await work.ctx.store.scripts.first({ where: and(ofTeam, eq("name", run_script)) });
  if (!script) throw invalid("run_script", `the team has no script ${JSON.stringify(run_script)}`);
  return script.id;
}

/** This apply may have created the profile. */
async function profileOf(work: Work, owner: string | null, { resend_configuration_profile: name }: DesiredPolicy) {
  if (name === null) return null;
  const where = and(inTeam(placeNamed(work, owner).team_id ?? 0), eq("name", name), eq("is_own", false));
  const profile = await work.ctx.store.configurationProfiles.first({ where });
  if (!profile) throw invalid("resend_configuration_profile", `the team has no profile ${JSON.stringify(name)}`);
  return profile.uuid;
}

/** What follows from the type of the policy. This apply may have added the app to the packages of the team. */
async function ofPatch(
  work: Work,
  owner: string | null,
  desired: DesiredPolicy,
  before?: PolicyRow,
): Promise<Partial<Columns>> {
  const { ctx } = work;
  const place = placeNamed(work, owner);
  const { type, patch_when_closed, notify_before_patching, continuous_automations_enabled } = desired.columns;
  const slug = desired.svc_maintained_app_slug;
  // Only the real apply downloads the file.
  const isLater = async () => !(await offeredApp(ctx.store, place.team_id, { slug }))?.offer;
  if (type === "patch" && slug !== "" && ctx.dryRun !== null && (await isLater()))
    return { query: before?.query ?? "SELECT 1", platform: before?.platform ?? "" };
  const input = {
    type,
    patch_when_closed,
    notify_before_patching,
    continuous_automations_enabled,
    install_software: desired.install_software === true,
    ...(slug === "" ? {} : { svc_maintained_app_slug: slug }),
  };
  return patchColumns(ctx, place, input, before);
}

/** Null if only the recipients of automations change. */
function changeOf(
  existing: PolicyRows,
  before: PolicyRow,
  desired: DesiredPolicy,
  labels: ReadonlyMap<string, NamedLabel>,
  automations: Partial<Columns>,
): PolicyChange | null {
  const { platform, ...rest } = { ...desired.columns, ...automations };
  const samePlatforms = platformsOf(policyPlatforms, platform) === platformsOf(policyPlatforms, before.platform);
  // A different order of the same platforms is no change: results are kept.
  const set = samePlatforms ? rest : { platform, ...rest };
  const scope = existing.labels.get(before.id);
  const { rule } = desired.labels;
  const ids = idsOf(desired, labels);
  const old = scope?.[rule] ?? [];
  const all = Object.values(scope ?? {}).flat();
  const sameLabels = all.length === old.length && old.length === ids.length && ids.every((id) => old.includes(id));
  const differs = (Object.keys(set) as (keyof typeof set)[]).some((column) => set[column] !== before[column]);
  if (sameLabels && !differs) return null;
  return { before, set, labels: sameLabels ? undefined : { ids, rule } };
}

const placeNamed = ({ teams }: Work, owner: string | null): Place =>
  placeOf(owner === null ? null : owner === NO_TEAM_NAME ? 0 : teams.get(owner)!.id);

/** Collects which policies the failing-policies automations include, by the owner of the policies. */
class Reporting {
  readonly #work: Work;
  readonly #owners = new Map<string | null, { on: number[]; off: number[] }>();

  constructor(work: Work) {
    this.#work = work;
  }

  say(owner: string | null, on: boolean, id: number): void {
    const automations = this.#owners.get(owner) ?? { on: [], off: [] };
    this.#owners.set(owner, automations);
    (on ? automations.on : automations.off).push(id);
  }

  all(): ReportedPolicies[] {
    return [...this.#owners].map(([owner, automations]) => ({ place: placeNamed(this.#work, owner), ...automations }));
  }
}

function pathOfType(steps: readonly Step<DesiredPolicy>[]) {
  const { sample: policies, count: all } = briefly(
    steps,
    ({ owner, desired }): PolicySpec => {
      const {
        webhooks_and_tickets_enabled: _reported,
        run_script: _script,
        resend_configuration_profile: _profile,
        install_software: software,
        ...value
      } = desiredPolicyValue(desired);
      return {
        name: desired.columns.name,
        team: owner,
        ...value,
        ...(software === true ? { install_software: true } : {}),
      };
    },
    ({ owner, name }): PolicySpec => ({ name, team: owner }),
  );
  return { policies, ...(all > policies.length ? { count: all } : {}) };
}
