// The agent's app on Android devices. Its managed configuration says where the server is, and which certificate templates
// the host has: the agent asks for each of them, and reports what became of it.
import { createHash } from "node:crypto";
import { templatesEnding, templatesMissed } from "../../../certificates/certificates/delivery.ts";
import { hostMdm } from "../../../hosts/mdm-status/tables.ts";
import { channels } from "../../../platform/core/channels.ts";
import { minutes } from "../../../platform/core/clock.ts";
import { parts } from "../../../platform/core/concurrency/parts.ts";
import { settingsFollower } from "../../../platform/core/concurrency/settings-follower.ts";
import { type Context, type Services, serviceContext, within } from "../../../platform/core/context.ts";
import { serverUrl } from "../../../platform/core/http/links.ts";
import type { Job } from "../../../platform/core/job.ts";
import { groupBy } from "../../../platform/core/maps.ts";
import type { ServerTx } from "../../../platform/core/tables.ts";
import { and, eq, exists, isNull, not, oneOf, or } from "../../../platform/store/query.ts";
import { newestSecrets } from "../../../settings/enroll-secrets/newest.ts";
import { appsOfTeam, type OfferedToTeam } from "./store-apps.ts";
import { androidPolicies } from "./tables.ts";
import { wantPolicies } from "./wanted.ts";

/** What is sent to the agents of a team. */
interface AgentOfTeam {
  /** Digest of all that the agent is sent; empty: there is nothing. */
  readonly digest: string;
  readonly templateIds: readonly number[];
  /** The managed configuration, without what is the host's own; null: there is no app. */
  readonly configuration: AgentConfiguration | null;
  /** The store apps that the team offers. */
  readonly apps: readonly OfferedToTeam[];
}

interface AgentConfiguration {
  readonly server_url: string;
  readonly enroll_secret: string;
  /** With the time of the last change, so that the agent notices each. */
  readonly certificate_templates: readonly { readonly id: number; readonly updated_at: string }[];
}

const digestOf = (value: unknown): string => createHash("sha256").update(JSON.stringify(value)).digest("hex");

type Source = Pick<Services, "settings" | "config"> & { readonly store: ServerTx };

export async function agentOfTeam(source: Source, teamId: number | null): Promise<AgentOfTeam> {
  const { store, settings } = source;
  const name = settings.android_agent_package;
  const apps = await appsOfTeam(store, teamId);
  if (name === undefined)
    return { digest: apps.length === 0 ? "" : digestOf(apps), templateIds: [], configuration: null, apps };
  const order = [{ column: "id", direction: "asc" }] as const;
  const where = teamId === null ? isNull("team_id") : eq("team_id", teamId);
  const templates = await store.certificateTemplates.pick(["id", "updated_at"], { where, order });
  const secret = (await newestSecrets(store)).get(teamId);
  const configuration = {
    server_url: await serverUrl(source),
    enroll_secret: secret?.secret ?? "",
    certificate_templates: templates.map(({ id, updated_at }) => ({ id, updated_at })),
  };
  const digest = digestOf([name, configuration, ...(apps.length === 0 ? [] : [apps])]);
  return { digest, configuration, templateIds: templates.map(({ id }) => id), apps };
}

/** What is the host's own in the managed configuration. */
interface AgentOfHost {
  readonly uuid: string;
  /** By template: when the agent was asked to replace its certificate. */
  readonly renewals: ReadonlyMap<number, string>;
}

type Policy = Readonly<Record<string, unknown>>;

/** The policy with the app. What a profile says of the app itself does not count. */
export function withAgentApp(
  policy: Policy,
  packageName: string | undefined,
  { configuration }: AgentOfTeam,
  { uuid: host_uuid, renewals }: AgentOfHost,
): Policy {
  if (packageName === undefined || configuration === null) return policy;
  const certificate_templates = configuration.certificate_templates.map(({ id, updated_at }) => {
    const renewal = renewals.get(id) ?? "";
    return { id, updated_at: renewal > updated_at ? renewal : updated_at };
  });
  const app = {
    packageName,
    installType: "FORCE_INSTALLED",
    delegatedScopes: ["CERT_INSTALL"],
    managedConfiguration: { ...configuration, certificate_templates, host_uuid },
  };
  const applications: unknown[] = Array.isArray(policy.applications) ? policy.applications : [];
  const isOwn = (application: unknown) =>
    (application as { packageName?: unknown } | null)?.packageName === packageName;
  return { ...policy, applications: [...applications.filter((application) => !isOwn(application)), app] };
}

const managed = and(eq("platform", "android"), exists(hostMdm, "id", eq("connected_to_svc", true)));

/** Hosts in one transaction. */
const BATCH_SIZE = 500;

/** Sends the policies of devices whose agents need something else than they were sent last. */
async function sendToAgents(services: Services, signal?: AbortSignal): Promise<void> {
  const ctx = serviceContext(services, "agents of Android devices");
  if (!(await ctx.config.current()).mdm.android_enabled_and_configured) return;
  const teams: (number | null)[] = [null, ...(await ctx.store.teams.pick(["id"], {})).map(({ id }) => id)];
  const agents: { team: number | null; digest: string }[] = [];
  for (const team of teams) agents.push({ team, digest: (await agentOfTeam(ctx, team)).digest });
  for (const [digest, same] of groupBy(agents, (agent) => agent.digest)) {
    const ids = same.flatMap(({ team }) => team ?? []);
    const ofTeams = or(oneOf("team_id", ids), ...(same.some(({ team }) => team === null) ? [isNull("team_id")] : []));
    const isTold = exists(androidPolicies, "id", or(eq("agent", digest), eq("due", true)));
    const where = and(ofTeams, managed, not(isTold));
    for await (const page of ctx.store.hosts.pages({ where }, BATCH_SIZE, ["id"])) {
      if (signal?.aborted) return;
      await want(
        ctx,
        page.map(({ id }) => id),
      );
    }
  }
}

const want = (ctx: Context, ids: readonly number[]): Promise<void> =>
  ctx.store.tx((store) => wantPolicies(within(ctx, store), ids));

/** Tells agents soon after templates, enroll secrets or settings have changed, and when hosts change teams. */
export const androidAgents = settingsFollower(
  "agents of Android devices",
  {
    failure: "cannot send the list of certificates to the agents of Android devices; trying again",
    // Changes of what teams offer are announced with those of policies.
    also: [channels.certificateTemplates, channels.enrollSecrets, channels.policies],
  },
  (services) => sendToAgents(services),
);

/**
 * Finds whatever was missed, and sends the list again to agents that have not asked for their certificates, or whose
 * certificates end soon.
 */
export const androidAgentJob: Job = {
  name: "android_agents",
  every: minutes(10),
  async run(services, signal) {
    await sendToAgents(services, signal);
    const ctx = serviceContext(services, "agents of Android devices");
    await ctx.store.tx(async (store) => {
      const inside = within(ctx, store);
      const hostIds = new Set([...(await templatesMissed(inside)), ...(await templatesEnding(inside))]);
      for await (const batch of parts([...hostIds])) await wantPolicies(inside, batch);
    });
  },
};
