import type { z } from "zod";
import {
  type AutomationActivity,
  type LastAutomation,
  type policyRunsApi,
  runStatuses,
} from "../../../api/delivery/policy-runs.ts";
import { policyFor } from "../../checks/policies/access.ts";
import { activityOf } from "../../hosts/activity-feed/service.ts";
import { hostFor } from "../../hosts/hosts/access.ts";
import { hosts } from "../../hosts/hosts/tables.ts";
import type { ActivityRow } from "../../platform/activities/chain.ts";
import type { Context } from "../../platform/core/context.ts";
import { invalid } from "../../platform/core/errors.ts";
import { page } from "../../platform/core/http/paging.ts";
import { byId } from "../../platform/core/maps.ts";
import { visible } from "../../platform/core/security/access.ts";
import type { policyRuns } from "../../platform/policy-runs/tables.ts";
import { and, eq, everything, exists, oneOf, search } from "../../platform/store/query.ts";
import type { RowOf } from "../../platform/store/table.ts";

type Query = z.output<typeof policyRunsApi.list.query>;
type RunRow = RowOf<typeof policyRuns>;

export async function listRuns(ctx: Context, policyId: number, query: Query) {
  const { store } = ctx;
  const policy = await policyFor(ctx, policyId);
  const { status } = query;
  if (status !== undefined && !(runStatuses as readonly string[]).includes(status))
    throw invalid("status", `must be one of ${runStatuses.join(", ")}`);
  const ofHosts = and(
    visible(ctx, "hosts:list"),
    query.query ? search(["display_name", "hostname"], query.query) : everything,
  );
  const where = and(
    eq("policy_id", policy.id),
    status === undefined ? everything : eq("status", status),
    ofHosts === everything ? everything : exists(hosts, "id", ofHosts, "host_id"),
  );
  const order = [{ column: "created_at", direction: query.order_direction ?? "desc" }] as const;
  const { rows, meta } = await page(store.policyRuns, { ...query, order_key: undefined }, where, {
    defaultOrder: order,
  });
  return { activities: await activitiesOf(ctx, rows), meta, count: await store.policyRuns.count(where) };
}

interface Output {
  readonly output: string | null;
  readonly pre_install_output: string | null;
  readonly post_install_output: string | null;
}

const noOutput: Output = { output: null, pre_install_output: null, post_install_output: null };

async function activitiesOf({ store }: Context, runs: readonly RunRow[]): Promise<AutomationActivity[]> {
  const activities = byId(await store.activities.getMany([...new Set(runs.map(({ activity_id }) => activity_id))]));
  const outputs = await outputsOf(store, [...activities.values()]);
  const names = new Map(
    (
      await store.hosts.pick(["id", "display_name"], {
        where: oneOf("id", [...new Set(runs.map(({ host_id }) => host_id))]),
      })
    ).map(({ id, display_name }) => [id, display_name]),
  );
  return runs.flatMap(({ activity_id, host_id, status }) => {
    const activity = activities.get(activity_id);
    // Until the job has deleted the runs of activities that have expired.
    if (!activity) return [];
    return {
      ...activityOf(activity),
      host_id,
      host_display_name: names.get(host_id) ?? "",
      status,
      ...(outputs.get(activity_id) ?? noOutput),
    };
  });
}

/** By activity. */
async function outputsOf(store: Context["store"], activities: readonly ActivityRow[]): Promise<Map<number, Output>> {
  const uuids = (type: string, key: string) =>
    new Map(activities.filter((row) => row.type === type).map((row) => [String(row.details?.[key]), row.id]));
  const scripts = uuids("ran_script", "script_execution_id");
  const installs = uuids("installed_software", "install_uuid");
  const outputs = new Map<number, Output>();
  const executions = await store.scriptExecutions.pick(["uuid", "output"], {
    where: oneOf("uuid", [...scripts.keys()]),
  });
  for (const { uuid, output } of executions) outputs.set(scripts.get(uuid)!, { ...noOutput, output });
  const runs = await store.softwareInstallRuns.pick(["uuid", "answer"], { where: oneOf("uuid", [...installs.keys()]) });
  for (const { uuid, answer } of runs)
    outputs.set(installs.get(uuid)!, {
      output: answer?.install_script_output ?? null,
      pre_install_output: answer?.pre_install_condition_output ?? null,
      post_install_output: answer?.post_install_script_output ?? null,
    });
  return outputs;
}

export async function lastAutomations(ctx: Context, hostId: number): Promise<{ automations: LastAutomation[] }> {
  const { store } = ctx;
  const host = await hostFor(ctx, "hosts:read", hostId);
  const ofHost = eq("host_id", host.id);
  const policyIds = (await store.policyRuns.groupCount("policy_id", ofHost)).map(({ value }) => Number(value));
  const newest = [{ column: "id", direction: "desc" }] as const;
  const runs = await store.readTogether((together) =>
    Promise.all(
      policyIds.map((id) => together.policyRuns.first({ where: and(ofHost, eq("policy_id", id)), order: newest })),
    ),
  );
  const activities = byId(await store.activities.getMany(runs.flatMap((run) => run?.activity_id ?? [])));
  const policies = byId(await store.policies.getMany(policyIds));
  const automations = runs.flatMap((run) => {
    const activity = activities.get(run?.activity_id ?? 0);
    const policy = policies.get(run?.policy_id ?? 0);
    if (!run || !activity || !policy) return [];
    const { error_response } = activity.details ?? {};
    return {
      policy_id: policy.id,
      policy_name: policy.name,
      created_at: run.created_at,
      type: activity.type,
      status: run.status,
      error: typeof error_response === "string" ? error_response : null,
    };
  });
  return { automations: automations.sort((a, b) => a.policy_id - b.policy_id) };
}
