// A request for every endpoint whose rule is a role, on an object of the caller's team, of another, of none, or one that
// does not exist.
import type { Package } from "../../src/api/software/packages.ts";
import { appleCustomCommand } from "../../src/server/devices/apple/actions/custom.ts";
import { sendAppleCommands } from "../../src/server/devices/apple/commands/send.ts";
import { answerOperation } from "../../src/server/hosts/operations/queue.ts";
import { serviceContext } from "../../src/server/platform/core/context.ts";
import { enqueue } from "../../src/server/platform/outbox/service.ts";
import { and, eq, everything } from "../../src/server/platform/store/query.ts";
import { softwareCounts } from "../../src/server/software/software/counts.ts";
import { enrollForPushes } from "../support/apns.ts";
import type { TestApp } from "../support/app.ts";
import { allowEnrollment, makeMacWithPasswords, makeNamedPhone, makePhone, turnOnAppleMdm } from "../support/apple.ts";
import { makeApproval } from "../support/approvals.ts";
import { makeCatalogueApp } from "../support/catalogue.ts";
import { iconForm, png } from "../support/icons.ts";
import { makeStoreApp, makeVppToken } from "../support/license-service.ts";
import {
  makeCarve,
  makeHost,
  makeInventory,
  makeLabel,
  makeOperation,
  makePolicy,
  makeSession,
  makeSoftware,
  makeTeam,
  makeUser,
  makeVulnerabilities,
} from "../support/make.ts";
import { makeAbmToken } from "../support/portal.ts";
import { appleCommand, asset, assetForm, declaration, makeManagedMac, profileForm } from "../support/profiles.ts";
import { entry, eulaForm, logoForm, PNG, packageForm, signature, xar } from "../support/xar.ts";

export type Place = "own" | "other" | "none" | "missing";
const places: readonly Place[] = ["own", "other", "none", "missing"];
export const MISSING = 999_999;

export interface World {
  readonly t: TestApp;
  readonly own: number;
  readonly other: number;
}
export interface Call {
  readonly path: string;
  readonly body?: unknown;
}
/** Where the thing called for can be, and the call; each makes what it needs anew, for what may be gone afterwards. */
export interface Target {
  readonly places: readonly Place[];
  /** The place decides whether a team role suffices: a call without one is allowed where the role is held anywhere. */
  readonly anywhere?: boolean;
  /** The object goes into the caller's team: the role is asked for there too. */
  readonly into?: boolean;
  /** Statuses that refuse, where they are not 403 and 404. */
  readonly refusals?: readonly number[];
  call(world: World, place: Place): Promise<Call>;
}

const teamOf = ({ own, other }: World, place: Place): number | null =>
  place === "own" ? own : place === "other" ? other : null;
const hostAt = async (world: World, place: Place) =>
  place === "missing" ? MISSING : (await makeHost(world.t, { team_id: teamOf(world, place) })).id;
const managedHostAt = async (world: World, place: Place) => {
  const id = await hostAt(world, place);
  const row = { id, enrollment_status: "On (manual)", connected_to_svc: true } as const;
  if (place !== "missing") await world.t.store.hostMdm.insert(row);
  return id;
};
/** A managed agent can run scripts on it; with `locked`, it ran the one that locks. */
const onMacWithPasswords = (path: string): Target => ({
  places,
  call: async (world, place) => {
    await turnOnAppleMdm(world.t);
    const id = await hostAt(world, place);
    if (place !== "missing") await makeMacWithPasswords(world.t, id);
    return { path: `/hosts/${id}${path}` };
  },
});

const onScripted = (rest: string, locked = false): Target => ({
  places,
  call: async (world, place) => {
    const id = await hostAt(world, place);
    const { store, clock } = world.t;
    if (place !== "missing") {
      await store.managedAgents.insert({ id, agent_key_hash: `of ${id}`, enrolled_at: clock.iso() });
      await store.hostActions.insert({ id, locked });
    }
    return { path: `/hosts/${id}${rest}` };
  },
});
/** An action on many hosts, of which there is one. */
const onMany = (action: string, body: object = {}): Target => ({
  places,
  call: async (world, place) => ({ path: `/hosts/${action}`, body: { ids: [await hostAt(world, place)], ...body } }),
});
const teamAt = (world: World, place: Place) => (place === "missing" ? MISSING : teamOf(world, place)!);
const userAt = async (world: World, place: Place) => {
  if (place === "missing") return MISSING;
  const team = teamOf(world, place);
  return (await makeUser(world.t, team === null ? "observer" : { teams: [{ id: team, role: "observer" }] })).id;
};

const onHost = (rest = "", body?: unknown): Target => ({
  places,
  call: async (world, place) => ({ path: `/hosts/${await hostAt(world, place)}${rest}`, body }),
});
const byTeamFilter = (path: string): Target => ({
  places,
  call: async (world, place) => ({
    path: `${path}${path.includes("?") ? "&" : "?"}team_id=${place === "none" ? 0 : teamAt(world, place)}`,
  }),
});
/** A version, its title, or the operating system version, of a host that has it. */
const onSoftware = (pathOf: (ids: { id: number; title_id: number; os: number }) => string): Target => ({
  places,
  call: async (world, place) => {
    if (place === "missing") return { path: pathOf({ id: MISSING, title_id: MISSING, os: MISSING }) };
    const { store, services } = world.t;
    const version = await makeSoftware(world.t, `made ${++names}`, "1");
    const os = await store.osVersions.insert({ name: "Ubuntu", version: `${names}`, platform: "ubuntu" });
    const host = await makeHost(world.t, { team_id: teamOf(world, place), os_version_id: os.id });
    await makeInventory(world.t, host.id, [version]);
    await services.running.of(softwareCounts).flush();
    return { path: pathOf({ id: version.id, title_id: version.title_id, os: os.id }) };
  },
});
const scriptForm = (text = "echo", name = `made-${++names}.sh`, fields: Record<string, string> = {}): FormData => {
  const form = new FormData();
  for (const [key, value] of Object.entries(fields)) form.set(key, value);
  form.set("script", new File([text], name));
  return form;
};
const scriptAt = async (world: World, place: Place): Promise<number> => {
  if (place === "missing") return MISSING;
  const fields: Record<string, string> = place === "none" ? {} : { team_id: String(teamOf(world, place)) };
  const reply = await world.t.post("/scripts", scriptForm("echo", undefined, fields));
  return ((await reply.json()) as { script_id: number }).script_id;
};
const onScript = (rest = "", body?: () => unknown): Target => ({
  places,
  call: async (world, place) => ({ path: `/scripts/${await scriptAt(world, place)}${rest}`, body: body?.() }),
});
const withAgentAt = async (world: World, place: Place): Promise<number> => {
  const id = await hostAt(world, place);
  const { store, clock } = world.t;
  if (place !== "missing")
    await store.managedAgents.insert({ id, agent_key_hash: `of ${id}`, enrolled_at: clock.iso() });
  return id;
};
const onBatch = (rest = ""): Target => ({
  places,
  call: async (world, place) => {
    if (place === "missing") return { path: `/scripts/batch/unknown${rest}` };
    const body = { script_id: await scriptAt(world, place), host_ids: [await withAgentAt(world, place)] };
    const reply = await world.t.post("/scripts/run/batch", { ...body, not_before: "2099-01-01T00:00:00Z" });
    const { batch_execution_id } = (await reply.json()) as { batch_execution_id: string };
    return { path: `/scripts/batch/${batch_execution_id}${rest}` };
  },
});
/** Acts for the host's agent: it answers what is asked of it within some seconds. */
function answerSoon({ t }: World, hostId: number): void {
  const answer = async () => {
    const open = await t.store.operations.list({ where: and(eq("host_id", hostId), eq("state", "queued")) });
    for (const { uuid } of open)
      await answerOperation(t.services, hostId, uuid, { exit_code: 0, output: "", runtime: 1 });
    if (open.length > 0) stop();
  };
  const stop = () => {
    clearInterval(looking);
    clearTimeout(ending);
  };
  const looking = setInterval(() => void answer().catch(stop), 100);
  const ending = setTimeout(stop, 60_000);
  looking.unref();
  ending.unref();
}
const onTeam = (rest = "", body?: (world: World) => unknown): Target => ({
  places: ["own", "other", "missing"],
  call: async (world, place) => ({ path: `/teams/${teamAt(world, place)}${rest}`, body: body?.(world) }),
});
const onUser = (rest = "", body?: unknown): Target => ({
  places,
  call: async (world, place) => ({ path: `/users/${await userAt(world, place)}${rest}`, body }),
});
const plain = (path: string, body?: () => unknown): Target => ({
  places: ["none"],
  call: async () => ({ path, body: body?.() }),
});
const anywhere = (path: string): Target => ({ ...plain(path), anywhere: true });

const onLabel = (path: (label: { id: number; name: string }) => string, body?: unknown): Target => ({
  places: ["none"],
  anywhere: true,
  call: async ({ t }) => ({ path: path(await makeLabel(t, `made ${++names}`)), body }),
});

/** A command of a host where the place is, with the type of one that can be cancelled. */
const onCommand = (pathOf: (command: { uuid: string; host: { id: number; uuid: string } }) => string): Target => ({
  places,
  call: async (world, place) => {
    const missing = { uuid: "missing", host: { id: MISSING, uuid: "missing" } };
    await turnOnAppleMdm(world.t);
    if (place === "missing") return { path: pathOf(missing) };
    const { id, uuid } = await makeManagedMac(world.t, { team_id: teamOf(world, place) });
    const ctx = serviceContext(world.t.services);
    const command = { hostId: id, command: { RequestType: "ClearPasscode" } };
    const [made] = await world.t.store.tx((store) =>
      sendAppleCommands({ ...ctx, store }, appleCustomCommand, [command]),
    );
    return { path: pathOf({ uuid: made!, host: { id, uuid } }) };
  },
});

/** A policy where the place is, or one of no team that is there. */
const policyAt = async (world: World, place: Place) => {
  if (place === "missing") return MISSING;
  const team = teamOf(world, place);
  return (await makePolicy(world.t, { scope: team === null ? "no_team" : "team", team_id: team })).id;
};
const pathTeam = (world: World, place: Place) => (place === "none" ? 0 : teamAt(world, place));
const onTeamPolicies = (rest: string, body?: () => unknown): Target => ({
  places,
  call: async (world, place) => ({ path: `/teams/${pathTeam(world, place)}/policies${rest}`, body: body?.() }),
});
const onTeamPolicy = (body?: () => unknown): Target => ({
  places,
  call: async (world, place) => ({
    path: `/teams/${pathTeam(world, place)}/policies/${await policyAt(world, place)}`,
    body: body?.(),
  }),
});
const onGlobalPolicy = (body?: unknown): Target => ({
  places: ["none"],
  anywhere: true,
  call: async ({ t }) => ({ path: `/global/policies/${(await makePolicy(t)).id}`, body }),
});

/** A host of the caller's team that is offline: no request waits for it. Hosts of other teams are 400, not 403. */
const sleeping = async ({ t, own }: World) =>
  makeHost(t, { team_id: own, created_at: "2026-01-01T00:00:00.000Z" }, { seen: "2026-01-02T00:00:00.000Z" });
const liveOn = (call: (host: Awaited<ReturnType<typeof sleeping>>) => Call): Target => ({
  places: ["own"],
  refusals: [400, 403, 404],
  call: async (world) => call(await sleeping(world)),
});
const openQuery = async ({ t }: World) =>
  t.store.queries.insert({
    created_at: t.clock.iso(),
    updated_at: t.clock.iso(),
    name: `made ${++names}`,
    query: "SELECT 1",
    observer_can_run: true,
  });
const newSql = (selected: unknown) => ({ query: "SELECT 1", selected });

const onCarve = (rest: string): Target => ({
  places: ["none"],
  call: async ({ t }) => {
    const carve = await makeCarve(t, (await makeHost(t)).id, Buffer.from("an archive"));
    return { path: `/carves/${carve.id}${rest}` };
  },
});

const missingUpload: Target = {
  places: ["missing"],
  anywhere: true,
  call: async () => ({ path: `/uploads/${MISSING}` }),
};

const onDelivery = (rest: string): Target => ({
  places: ["none", "missing"],
  call: async ({ t }, place) => {
    const url = "http://127.0.0.1:9/";
    const event = { kind: "webhook", event: "activities", destination: url, url, payload: {} } as const;
    const row = place === "missing" ? null : await t.store.tx((tx) => enqueue(tx, t.services, event));
    return { path: `/webhooks/deliveries/${row?.id ?? MISSING}${rest}` };
  },
});

const caIn = async ({ t }: World) => {
  const at = { created_at: t.clock.iso(), updated_at: t.clock.iso() };
  const ca = {
    name: `made_${++names}`,
    type: "custom_scep_proxy",
    settings: { url: "https://scep.example.com" },
  } as const;
  return (await t.store.certificateAuthorities.insert({ ...at, ...ca, secret: "c" })).id;
};
const onCa = (call: (id: number) => Call): Target => ({
  places: ["none"],
  call: async (world) => call(await caIn(world)),
});
/** A certificate template of that team. */
const onTemplate = (call: (id: number, teamId: number | null) => Call): Target => ({
  places,
  call: async (world, place) => {
    const team_id = place === "missing" ? world.own : teamOf(world, place);
    if (place === "missing") return call(MISSING, team_id);
    const at = { created_at: world.t.clock.iso(), updated_at: world.t.clock.iso() };
    const row = { ...at, name: `made ${++names}`, team_id, subject_name: "/CN=x" };
    const made = await world.t.store.certificateTemplates.insert({
      ...row,
      certificate_authority_id: await caIn(world),
    });
    return call(made.id, team_id);
  },
});

/** A token of the license program. */
const onVppToken = (rest: string, body?: unknown): Target => ({
  places: ["none", "missing"],
  call: async ({ t }, place) => {
    const id = place === "missing" ? MISSING : (await makeVppToken(t)).id;
    return { path: `/vpp_tokens/${id}${rest}`, body };
  },
});

/** A store app that a team offers, and its token. */
const onStoreApps = (call: (app: { title_id: number; team_id: number; name: string }) => Call): Target => ({
  places,
  call: async (world, place) => {
    const missing = { title_id: MISSING, team_id: MISSING, name: "missing" };
    if (place === "missing") return call(missing);
    const { store } = world.t;
    const team = teamOf(world, place);
    const { title_id, token_id } = await makeStoreApp(world.t, team);
    await store.vppTokenTeams.upsert([{ token_id: token_id!, scope: team ?? 0, team_id: team }], { on: ["scope"] });
    const name = team === null ? "" : (await store.teams.get(team))!.name;
    return call({ title_id, team_id: team ?? 0, name });
  },
});

/** A team by its name. */
async function teamQuery(world: World, place: Place): Promise<string> {
  const team = place === "missing" ? MISSING : teamOf(world, place);
  if (team === null) return "";
  return `?team_name=${encodeURIComponent((await world.t.store.teams.get(team))?.name ?? "missing")}`;
}

/** A token of the business portal. */
const onAbmToken = (rest: string, body?: unknown): Target => ({
  places: ["none", "missing"],
  call: async ({ t }, place) => {
    const id = place === "missing" ? MISSING : (await makeAbmToken(t)).id;
    return { path: `/abm_tokens/${id}${rest}`, body };
  },
});
const noToken = () => {
  const form = new FormData();
  form.append("token", new Blob(["no token!"]), "token.p7m");
  return form;
};
const assistantAt = async (world: World, place: Place) => {
  const team_id = teamOf(world, place);
  const row = { team_key: String(team_id ?? "none"), team_id, name: "setup.json", uploaded_at: world.t.clock.iso() };
  await world.t.store.setupAssistants.upsert([{ ...row, enrollment_profile: { profile_name: "Setup" } }], {
    on: ["team_key"],
  });
};
const onAssistant = (): Target => ({
  places: ["own", "other", "none"],
  call: async (world, place) => {
    await turnOnAppleMdm(world.t);
    await assistantAt(world, place);
    return { path: `/enrollment_profiles/automatic?team_id=${teamOf(world, place) ?? 0}` };
  },
});

const onSetup = (path: string, settings: object): Target => ({
  places: ["own", "other", "none"],
  call: async (world, place) => ({ path, body: { team_id: teamOf(world, place), ...settings } }),
});

const onSetupScript: Target = {
  places: ["own", "other", "none"],
  call: async (world, place) => {
    const { store, clock } = world.t;
    const team_id = teamOf(world, place);
    const [text] = await store.scriptTexts.upsert([{ digest: "of a setup", content: "echo" }], { on: ["digest"] });
    const row = { team_key: String(team_id ?? "none"), team_id, name: "setup.sh", text_id: text!.id };
    const now = clock.iso();
    await store.setupScripts.upsert([{ ...row, created_at: now, updated_at: now }], { on: ["team_key"] });
    return { path: `/setup_experience/script?team_id=${team_id ?? 0}` };
  },
};

/** A file without a content. */
const fileRow = async ({ t }: World) => {
  const key = `files/made-${++names}`;
  const [created_at, used_at] = [t.clock.iso(), t.clock.iso()];
  return (await t.store.files.insert({ sha256: key, size: 1, key, created_at, used_at })).id;
};
const bootstrapAt = async (world: World, place: Place) => {
  await turnOnAppleMdm(world.t);
  const team_id = teamOf(world, place);
  const row = { team_key: String(team_id ?? "none"), team_id, created_at: world.t.clock.iso(), name: "setup.pkg" };
  await world.t.store.bootstrapPackages.delete(eq("team_key", row.team_key));
  return { ...row, token: `token ${++names}` };
};
const onBootstrap = (rest = ""): Target => ({
  places: ["own", "other", "none"],
  call: async (world, place) => {
    const row = await bootstrapAt(world, place);
    await world.t.store.bootstrapPackages.insert({ ...row, file_id: await fileRow(world) });
    return { path: `/bootstrap/${row.team_id ?? 0}${rest}` };
  },
});
const scriptPackage = (team?: number): FormData => {
  const body = new FormData();
  if (team !== undefined) body.set("team_id", String(team));
  body.set("software", new File([`echo ${++names}`], `made-${names}.sh`));
  return body;
};
/** The title of a package that is offered where the place is. */
const packageAt = async (world: World, place: Place): Promise<{ title: number; team: number }> => {
  if (place === "missing") return { title: MISSING, team: MISSING };
  const team = teamOf(world, place) ?? 0;
  const reply = await world.t.post("/software/package", scriptPackage(team));
  return { title: ((await reply.json()) as { software_package: Package }).software_package.title_id, team };
};
/** A host with an agent, and a package that it can install and uninstall. */
const installableAt = async (world: World, place: Place): Promise<{ id: number; title: number }> => {
  if (place === "missing") return { id: MISSING, title: MISSING };
  const id = await withAgentAt(world, place);
  const { store } = world.t;
  const { title } = await packageAt(world, place);
  await store.hosts.update({ where: eq("id", id), set: { platform: "ubuntu" } });
  await store.softwareInstallers.update({ where: eq("title_id", title), set: { uninstall_script: "exit 0" } });
  return { id, title };
};
const onInstallable = (what: "install" | "uninstall"): Target => ({
  places,
  call: async (world, place) => {
    const { id, title } = await installableAt(world, place);
    return { path: `/hosts/${id}/software/${title}/${what}` };
  },
});
const onManyInstallable = (what: "install" | "uninstall"): Target => ({
  places,
  call: async (world, place) => {
    const { id, title } = await installableAt(world, place);
    return { path: `/software/titles/${title}/${what}`, body: { ids: [id] } };
  },
});
const onPackage = (rest: string, query = ""): Target => ({
  places,
  call: async (world, place) => {
    const { title, team } = await packageAt(world, place);
    return { path: `/software/titles/${title}${rest}?team_id=${team}${query}` };
  },
});
/** The title of a package with an icon. */
const iconAt = async (world: World, place: Place) => {
  const found = await packageAt(world, place);
  const path = `/software/titles/${found.title}/icon?team_id=${found.team}`;
  if (place !== "missing") await world.t.request("PUT", path, iconForm(png(120)));
  return path;
};
const onCategory = (body?: () => unknown): Target => ({
  places,
  call: async (world, place) => {
    const at = { created_at: world.t.clock.iso(), updated_at: world.t.clock.iso(), team_id: teamOf(world, place) };
    const name = `made ${++names}`;
    const row = async () => world.t.store.selfServiceCategories.insert({ ...at, name, name_key: name });
    const id = place === "missing" ? MISSING : (await row()).id;
    return { path: `/software/self_service_categories/${id}`, body: body?.() };
  },
});
const onEula = (path: (token: string) => string): Target => ({
  places: ["none"],
  call: async (world) => {
    await turnOnAppleMdm(world.t);
    const { store, clock } = world.t;
    await store.eulas.delete(everything);
    const token = `token-${++names}`;
    const row = { slot: "eula", created_at: clock.iso(), name: "a.pdf", token, file_id: await fileRow(world) };
    await store.eulas.insert(row);
    return { path: path(token) };
  },
});

/** Requests to which this server has no answer, whoever asks. */
export const refuses: ReadonlySet<string> = new Set([
  "GET /config/certificate",
  // No push certificate exists, and no push is sent.
  "GET /apns",
  // No service account for Android exists.
  "GET /android_enterprise",
  "DELETE /android_enterprise",
  "GET /android_enterprise/signup_url",
  "POST /software/web_apps",
  "POST /mdm/vendora/apns_certificate",
  "DELETE /mdm/vendora/apns_certificate",
  "POST /autofill/policy",
  "POST /config/test_mail",
  "POST /certificate_authorities/:id/request_certificate",
  "POST /abm_tokens",
  "PATCH /abm_tokens/:id/renew",
  "POST /vpp_tokens",
  // Without a global enroll secret, and without credentials for the directory.
  "GET /conditional_access/idp/vendora/profile",
  "POST /conditional-access/directory",
  "POST /conditional-access/directory/confirm",
  "PATCH /vpp_tokens/:id/renew",
  // The installer cannot be downloaded.
  "POST /software/svc_maintained_apps",
  // The app has no licenses.
  "POST /software/app_store_apps",
]);

/** A query of that team; where the place is none, a global one, which team users may see but not change. */
const queryAt = async (world: World, place: Place) => {
  if (place === "missing") return { id: MISSING, name: "nothing" };
  const { store, clock } = world.t;
  const now = clock.iso();
  const row = { created_at: now, updated_at: now, name: `made ${++names}`, query: "SELECT 1", interval: 60 };
  return store.queries.insert({ ...row, team_id: teamOf(world, place) });
};
const elsewhere: readonly Place[] = ["own", "other", "missing"];
/** A profile where the place is. */
const profileAt = async (world: World, place: Place): Promise<string> => {
  await turnOnAppleMdm(world.t);
  if (place === "missing") return "dmissing";
  const uuid = `dmade-${++names}`;
  const now = world.t.clock.iso();
  const { id } = await world.t.store.configurationProfiles.insert({
    ...{ uuid, name: uuid, identifier: uuid, platform: "darwin", kind: "declaration", checksum: uuid },
    ...{ created_at: now, updated_at: now, uploaded_at: now, team_id: teamOf(world, place) },
  });
  await world.t.store.profileContents.insert({ id, content: "e30=" });
  return uuid;
};
const onAsset: Target = {
  places,
  call: async (world, place) => {
    await turnOnAppleMdm(world.t);
    const uuid = `asset ${++names}`;
    const now = world.t.clock.iso();
    await world.t.store.declarationAssets.insert({
      ...{ uuid, name: uuid, identifier: uuid, checksum: uuid, content: "e30=" },
      ...{ created_at: now, updated_at: now, team_id: teamOf(world, place) },
    });
    return { path: `/assets/${encodeURIComponent(uuid)}` };
  },
};
const onProfile = (path: (uuid: string) => string, body?: (uuid: string) => unknown): Target => ({
  places,
  call: async (world, place) => {
    const uuid = await profileAt(world, place);
    return { path: path(uuid), body: body?.(uuid) };
  },
});
const onQuery = (
  path: (query: { id: number; name: string }, world: World, place: Place) => string,
  body?: unknown,
  at: readonly Place[] = places,
): Target => ({
  places: at,
  call: async (world, place) => ({ path: path(await queryAt(world, place), world, place), body }),
});
const byQueryTeam = (path: string): Target => ({
  places: elsewhere,
  call: async (world, place) => ({ path: `${path}?team_id=${teamAt(world, place)}` }),
});
const onVariable = (method: "PATCH" | "DELETE"): Target => ({
  places: ["none", "missing"],
  call: async ({ t }, place) => {
    const at = { created_at: t.clock.iso(), updated_at: t.clock.iso() };
    const row = () =>
      t.store.customVariables.insert({ name: `MADE_${++names}`, value: "made-value", previous: null, ...at });
    return {
      path: `/custom_variables/${place === "missing" ? MISSING : (await row()).id}`,
      body: method === "PATCH" ? { value: "changed" } : undefined,
    };
  },
});
const vitalAt = async ({ t }: World) => {
  const name = `made ${++names}`;
  const at = { created_at: t.clock.iso(), updated_at: t.clock.iso() };
  return (await t.store.customHostVitals.insert({ name, name_key: name, ...at })).id;
};
const onVital = (body?: () => unknown): Target => ({
  places: ["none", "missing"],
  call: async (world, place) => ({
    path: `/custom_host_vitals/${place === "missing" ? MISSING : await vitalAt(world)}`,
    body: body?.(),
  }),
});
const personAt = async ({ t }: World, place: Place): Promise<string> => {
  if (place === "missing") return String(MISSING);
  const reply = await t.post("/scim/Users", { userName: `made-${++names}@example.com` });
  return ((await reply.json()) as { id: string }).id;
};
const peopleAt = async ({ t }: World, place: Place): Promise<string> => {
  if (place === "missing") return `group-${MISSING}`;
  const reply = await t.post("/scim/Groups", { displayName: `made ${++names}` });
  return ((await reply.json()) as { id: string }).id;
};
const onScim = (path: "Users" | "Groups", body?: () => unknown): Target => ({
  places: ["none", "missing"],
  call: async (world, place) => ({
    path: `/scim/${path}/${await (path === "Users" ? personAt : peopleAt)(world, place)}`,
    body: body?.(),
  }),
});
const renaming = () => ({ Operations: [{ op: "replace", path: "displayName", value: `made ${++names}` }] });

const onPack = (path: (pack: { id: number; name: string }, scheduled: number) => string, body?: unknown): Target => ({
  places: ["none"],
  call: async (world) => {
    const { store, clock } = world.t;
    const at = { created_at: clock.iso(), updated_at: clock.iso() };
    const pack = await store.packs.insert({ ...at, name: `made ${++names}` });
    const query = await queryAt(world, "none");
    const entry = { ...at, pack_id: pack.id, query_id: query.id, name: query.name, interval: 60 };
    const scheduled = await store.scheduledQueries.insert(entry);
    return { path: path(pack, scheduled.id), body };
  },
});

const onInvite = (body?: unknown): Target => ({
  places: ["none", "missing"],
  call: async ({ t }, place) => {
    if (place === "missing") return { path: `/invites/${MISSING}`, body };
    const at = { created_at: t.clock.iso(), updated_at: t.clock.iso() };
    const row = { ...at, name: "Made", email: email(), global_role: "observer", token_hash: `of ${++names}` } as const;
    return { path: `/invites/${(await t.store.invites.insert(row)).id}`, body };
  },
});

let names = 0;
const email = () => `made-${++names}@example.com`;

export const targets: Record<string, Target> = {
  "GET /activities": plain("/activities"),
  "POST /approvals/:id/approve": {
    places,
    call: async (world, place) => {
      const ada = (await world.t.store.users.first({}))!.id;
      const id = place === "missing" ? MISSING : (await makeApproval(world.t, ada, [await hostAt(world, place)])).id;
      return { path: `/approvals/${id}/approve` };
    },
  },
  "GET /uploads": anywhere("/uploads"),
  "POST /uploads": {
    places: ["none"],
    anywhere: true,
    call: async () => ({ path: "/uploads", body: { name: "a.pkg", size: 7, sha256: "0".repeat(64) } }),
  },
  // Others' uploads do not exist.
  "GET /uploads/:id": missingUpload,
  "PATCH /uploads/:id": missingUpload,
  "DELETE /uploads/:id": missingUpload,
  "GET /carves": plain("/carves"),
  "GET /carves/:id": onCarve(""),
  "GET /carves/:id/block/:block_id": onCarve("/block/0"),
  "GET /carves/:id/download": onCarve("/download"),
  "GET /mdm/vendora/abm_public_key": plain("/mdm/vendora/abm_public_key"),
  "POST /mdm/vendora/dep/key_pair": plain("/mdm/vendora/dep/key_pair"),
  "POST /abm_tokens": plain("/abm_tokens", noToken),
  "PATCH /abm_tokens/:id/renew": {
    places: ["none", "missing"],
    call: async (world, place) => ({ ...(await onAbmToken("/renew").call(world, place)), body: noToken() }),
  },
  "GET /abm_tokens": plain("/abm_tokens"),
  "GET /abm_tokens/count": plain("/abm_tokens/count"),
  "PATCH /abm_tokens/:id/teams": onAbmToken("/teams", {}),
  "DELETE /abm_tokens/:id": onAbmToken(""),
  "POST /vpp_tokens": plain("/vpp_tokens", noToken),
  "GET /vpp_tokens": plain("/vpp_tokens"),
  "PATCH /vpp_tokens/:id/teams": onVppToken("/teams", { team_ids: [] }),
  "PATCH /vpp_tokens/:id/renew": {
    places: ["none", "missing"],
    call: async (world, place) => ({ ...(await onVppToken("/renew").call(world, place)), body: noToken() }),
  },
  "DELETE /vpp_tokens/:id": onVppToken(""),
  "DELETE /mdm/vendora/vpp_token": {
    places: ["none"],
    call: async ({ t }) => {
      await t.store.vppTokens.delete(everything);
      await makeVppToken(t);
      return { path: "/mdm/vendora/vpp_token" };
    },
  },
  "GET /mdm/vendora_bm": {
    places: ["none"],
    call: async ({ t }) => {
      await makeAbmToken(t);
      return { path: "/mdm/vendora_bm" };
    },
  },
  "GET /hosts/:id/dep_assignment": onHost("/dep_assignment"),
  "POST /hosts/release_ab": {
    places: ["own", "other", "none"],
    call: async (world, place) => ({ path: "/hosts/release_ab", body: { ids: [await hostAt(world, place)] } }),
  },
  "GET /enrollment_profiles/manual": {
    places: ["own", "other", "none"],
    call: async (world, place) => {
      if ((await world.t.store.applePushCertificates.count()) === 0) await allowEnrollment(world.t);
      return { path: `/enrollment_profiles/manual?team_id=${teamOf(world, place) ?? 0}` };
    },
  },
  "POST /enroll_tokens": {
    places: ["own", "other", "none"],
    call: async (world, place) => ({ path: "/enroll_tokens", body: { team_id: teamOf(world, place) ?? 0 } }),
  },
  "POST /enrollment_profiles/automatic": {
    places: ["own", "other", "none"],
    call: async (world, place) => {
      await turnOnAppleMdm(world.t);
      return {
        path: "/enrollment_profiles/automatic",
        body: { team_id: teamOf(world, place), name: "a.json", enrollment_profile: { profile_name: "a" } },
      };
    },
  },
  "GET /enrollment_profiles/automatic": onAssistant(),
  "GET /enrollment_profiles/automatic/default": {
    ...anywhere("/enrollment_profiles/automatic/default"),
    call: async ({ t }) => {
      await turnOnAppleMdm(t);
      return { path: "/enrollment_profiles/automatic/default" };
    },
  },
  "DELETE /enrollment_profiles/automatic": onAssistant(),
  "POST /host_name_template": onSetup("/host_name_template", { name_template: "" }),
  "POST /disk_encryption": onSetup("/disk_encryption", { enable_disk_encryption: false }),
  "PATCH /mdm/vendora/settings": onSetup("/mdm/vendora/settings", { enable_disk_encryption: false }),
  "PATCH /setup_experience": onSetup("/setup_experience", { lock_end_user_info: true }),
  "GET /setup_experience/software": byTeamFilter("/setup_experience/software"),
  "PUT /setup_experience/software": onSetup("/setup_experience/software", { software_title_ids: [] }),
  "POST /setup_experience/script": {
    places,
    call: async (world, place) => {
      await world.t.store.setupScripts.delete(everything);
      const fields: Record<string, string> = place === "none" ? {} : { team_id: String(teamAt(world, place)) };
      return { path: "/setup_experience/script", body: scriptForm("echo", undefined, fields) };
    },
  },
  "GET /setup_experience/script": onSetupScript,
  "DELETE /setup_experience/script": onSetupScript,
  "POST /managed_local_account": onSetup("/managed_local_account", { enable_managed_local_account: false }),
  "POST /bootstrap": {
    places: ["own", "other", "none"],
    call: async (world, place) => {
      const { team_id } = await bootstrapAt(world, place);
      // A content that is stored already would only be marked as used.
      const content = xar({ toc: `${signature}${entry("Distribution")}${entry(`made ${++names}`)}` });
      return { path: "/bootstrap", body: packageForm(content, { team_id: String(team_id ?? 0) }) };
    },
  },
  "GET /bootstrap/:team_id/metadata": onBootstrap("/metadata"),
  "DELETE /bootstrap/:team_id": onBootstrap(),
  "GET /bootstrap/summary": {
    ...byTeamFilter("/bootstrap/summary"),
    call: async (world, place) => {
      await turnOnAppleMdm(world.t);
      return byTeamFilter("/bootstrap/summary").call(world, place);
    },
  },
  "POST /setup_experience/eula": {
    places: ["none"],
    call: async ({ t }) => {
      await turnOnAppleMdm(t);
      await t.store.eulas.delete(everything);
      return { path: "/setup_experience/eula", body: eulaForm("%PDF-1.7") };
    },
  },
  "GET /setup_experience/eula/metadata": onEula(() => "/setup_experience/eula/metadata"),
  "DELETE /setup_experience/eula/:token": onEula((token) => `/setup_experience/eula/${token}`),
  "GET /certificate_authorities": plain("/certificate_authorities"),
  "POST /certificate_authorities": plain("/certificate_authorities?skip_check=true", () => ({
    custom_scep_proxy: { name: `made_${++names}`, url: "https://scep.example.com", challenge: "c" },
  })),
  "GET /certificate_authorities/:id": onCa((id) => ({ path: `/certificate_authorities/${id}` })),
  "PATCH /certificate_authorities/:id": onCa((id) => ({
    path: `/certificate_authorities/${id}?skip_check=true`,
    body: { custom_scep_proxy: { challenge: "d" } },
  })),
  "DELETE /certificate_authorities/:id": onCa((id) => ({ path: `/certificate_authorities/${id}` })),
  "GET /spec/certificate_authorities": plain("/spec/certificate_authorities"),
  "POST /spec/certificate_authorities": plain("/spec/certificate_authorities", () => ({ certificate_authorities: {} })),
  "POST /certificate_authorities/:id/request_certificate": onCa((id) => ({
    path: `/certificate_authorities/${id}/request_certificate`,
    body: { csr: "none" },
  })),
  "GET /certificates": byTeamFilter("/certificates"),
  "POST /certificates": {
    places: ["own", "other", "none"],
    call: async (world, place) => ({
      path: "/certificates",
      body: {
        name: `made ${++names}`,
        team_id: teamOf(world, place),
        certificate_authority_id: await caIn(world),
        subject_name: "/CN=x",
      },
    }),
  },
  "GET /certificates/:id": onTemplate((id) => ({ path: `/certificates/${id}` })),
  "DELETE /certificates/:id": onTemplate((id) => ({ path: `/certificates/${id}` })),
  "POST /spec/certificates": {
    places: ["own", "other", "none"],
    call: async (world, place) => {
      const teamId = teamOf(world, place);
      const team = teamId === null ? "No team" : (await world.t.store.teams.get(teamId))!.name;
      const spec = {
        name: `made ${++names}`,
        team,
        certificate_authority_id: await caIn(world),
        subject_name: "/CN=x",
      };
      return { path: "/spec/certificates", body: { specs: [spec] } };
    },
  },
  "DELETE /spec/certificates": {
    ...onTemplate((id, team_id) => ({ path: "/spec/certificates", body: { ids: [id], team_id } })),
    places: ["own", "other", "none"],
  },
  "GET /config": anywhere("/config"),
  "PUT /logo": plain("/logo", () => logoForm(PNG)),
  "DELETE /logo": plain("/logo"),
  "PATCH /config": plain("/config", () => ({ org_info: { org_name: "x" } })),
  "GET /webhooks/deliveries": plain("/webhooks/deliveries"),
  "GET /webhooks/deliveries/:id": onDelivery(""),
  "POST /webhooks/deliveries/:id/replay": onDelivery("/replay"),
  "POST /webhooks/deliveries/:id/give_up": onDelivery("/give_up"),
  // Goes nowhere: the address is refused, and that is the reply.
  "POST /webhooks/test": plain("/webhooks/test", () => ({ event: "activities", url: "http://127.0.0.1:9/" })),
  "GET /apns": plain("/apns"),
  "GET /mdm/vendora/status": plain("/mdm/vendora/status"),
  "GET /android_enterprise": plain("/android_enterprise"),
  "POST /software/web_apps": {
    places: ["none"],
    call: async () => ({
      path: "/software/web_apps",
      body: iconForm(png(512), { title: "Intranet", url: "https://intranet.example.com" }),
    }),
  },
  "DELETE /android_enterprise": plain("/android_enterprise"),
  "GET /android_enterprise/signup_url": plain("/android_enterprise/signup_url"),
  "GET /android_enterprise/signup_sse": plain("/android_enterprise/signup_sse"),
  "GET /mdm/vendora/request_csr": plain("/mdm/vendora/request_csr"),
  "POST /mdm/vendora/request_csr": plain("/mdm/vendora/request_csr"),
  "POST /mdm/vendora/apns_certificate": plain("/mdm/vendora/apns_certificate"),
  "DELETE /mdm/vendora/apns_certificate": plain("/mdm/vendora/apns_certificate"),
  "GET /webhooks/destinations": plain("/webhooks/destinations"),
  "PATCH /webhooks/destinations": plain("/webhooks/destinations", () => ({ url: "https://a.example/", headers: {} })),
  "GET /config/certificate": anywhere("/config/certificate"),
  "GET /spec/enroll_secret": plain("/spec/enroll_secret"),
  "POST /spec/enroll_secret": plain("/spec/enroll_secret", () => ({ spec: { secrets: [{ secret: "s".repeat(40) }] } })),
  "GET /teams/:id/secrets": onTeam("/secrets"),
  "PATCH /teams/:id/secrets": onTeam("/secrets", () => ({ secrets: [] })),
  "GET /hosts": byTeamFilter("/hosts"),
  "GET /hosts/count": byTeamFilter("/hosts/count"),
  "GET /charts/:metric": byTeamFilter("/charts/uptime"),
  "GET /hosts/facets": byTeamFilter("/hosts/facets?by=platform"),
  "GET /host_summary": byTeamFilter("/host_summary"),
  "GET /hosts/:id": onHost(),
  "GET /hosts/identifier/:identifier": {
    places,
    call: async (world, place) => {
      const id = await hostAt(world, place);
      return { path: `/hosts/identifier/${(await world.t.store.hosts.get(id))?.uuid ?? "nothing"}` };
    },
  },
  "DELETE /hosts/:id": onHost(),
  "POST /hosts/delete": {
    places,
    call: async (world, place) => ({ path: "/hosts/delete", body: { ids: [await hostAt(world, place)] } }),
  },
  "GET /hosts/report": {
    places,
    call: async (world, place) => ({
      path: `/hosts/report?format=csv&columns=id&team_id=${place === "none" ? 0 : teamAt(world, place)}`,
    }),
  },
  "GET /hosts/:id/explain": onHost("/explain?where=online"),
  "POST /hosts/transfer": {
    places,
    into: true,
    call: async (world, place) => ({
      path: "/hosts/transfer",
      body: { team_id: world.own, hosts: [await hostAt(world, place)] },
    }),
  },
  "POST /hosts/transfer/filter": {
    places,
    call: async (world, place) => {
      const team = place === "none" ? 0 : teamAt(world, place);
      return { path: "/hosts/transfer/filter", body: { team_id: team, filters: { team_id: team } } };
    },
  },
  "POST /hosts/:id/refetch": onHost("/refetch"),
  "GET /assets": {
    ...byTeamFilter("/assets"),
    call: async (world, place) => {
      await turnOnAppleMdm(world.t);
      return byTeamFilter("/assets").call(world, place);
    },
  },
  "GET /assets/:asset_uuid": onAsset,
  "DELETE /assets/:asset_uuid": onAsset,
  "POST /assets": {
    places,
    call: async (world, place) => {
      await turnOnAppleMdm(world.t);
      const team_id = String(place === "none" ? 0 : teamAt(world, place));
      return { path: "/assets", body: assetForm(asset(), { team_id }) };
    },
  },
  "GET /mdm/profiles": {
    ...byTeamFilter("/mdm/profiles"),
    call: async (world, place) => {
      await turnOnAppleMdm(world.t);
      return byTeamFilter("/mdm/profiles").call(world, place);
    },
  },
  "GET /mdm/profiles/summary": byTeamFilter("/mdm/profiles/summary"),
  "GET /mdm/disk_encryption/summary": byTeamFilter("/mdm/disk_encryption/summary"),
  "GET /mdm/profiles/:profile_uuid": onProfile((uuid) => `/mdm/profiles/${uuid}`),
  "POST /configuration_profiles": {
    places,
    call: async (world, place) => {
      await turnOnAppleMdm(world.t);
      const team_id = String(place === "none" ? 0 : teamAt(world, place));
      return { path: "/configuration_profiles", body: profileForm(declaration(), { team_id }, `made ${++names}.json`) };
    },
  },
  "PATCH /configuration_profiles/:profile_uuid": onProfile(
    (uuid) => `/configuration_profiles/${uuid}`,
    () => profileForm(null, {}),
  ),
  "DELETE /mdm/profiles/:profile_uuid": onProfile((uuid) => `/mdm/profiles/${uuid}`),
  "GET /configuration_profiles/:profile_uuid/status": onProfile((uuid) => `/configuration_profiles/${uuid}/status`),
  "GET /configuration_profiles/:profile_uuid/hosts": onProfile((uuid) => `/configuration_profiles/${uuid}/hosts`),
  "POST /configuration_profiles/resend/batch": onProfile(
    () => "/configuration_profiles/resend/batch",
    (profile_uuid) => ({ profile_uuid, filters: { profile_status: "failed" } }),
  ),
  "POST /mdm/vendora/profiles/preassign": plain("/mdm/vendora/profiles/preassign", () => ({})),
  "POST /mdm/vendora/profiles/match": plain("/mdm/vendora/profiles/match", () => ({})),
  "POST /configuration_profiles/batch": {
    places,
    call: async (world, place) => ({
      path: `/configuration_profiles/batch?team_id=${place === "none" ? 0 : teamAt(world, place)}`,
      body: { configuration_profiles: [] },
    }),
  },
  "POST /hosts/:id/configuration_profiles/:profile_uuid/resend": {
    places,
    call: async (world, place) => {
      const profile_uuid = await profileAt(world, place);
      const pathOf = (id: number) => `/hosts/${id}/configuration_profiles/${profile_uuid}/resend`;
      if (place === "missing") return { path: pathOf(MISSING) };
      // The profile is meant for the host, so that the reconciler leaves the row alone.
      const { id } = await makeManagedMac(world.t, { team_id: teamOf(world, place) });
      const row = { host_id: id, profile_uuid, platform: "darwin", name: "made", operation_type: "install" } as const;
      await world.t.store.hostProfiles.upsert([{ ...row, checksum: profile_uuid, status: "failed" }], {
        on: ["host_id", "profile_uuid"],
      });
      return { path: pathOf(id) };
    },
  },
  "POST /hosts/:id/apns_ping": {
    places,
    call: async (world, place) => {
      await turnOnAppleMdm(world.t);
      const id = await hostAt(world, place);
      if (id !== MISSING) await enrollForPushes(world.t, [id]);
      return { path: `/hosts/${id}/apns_ping` };
    },
  },
  "GET /hosts/:id/software": onHost("/software"),
  "GET /hosts/:id/last_automations": onHost("/last_automations"),
  "POST /hosts/:id/software/:software_title_id/install": onInstallable("install"),
  "POST /hosts/:id/software/:software_title_id/uninstall": onInstallable("uninstall"),
  "POST /software/titles/:id/install": onManyInstallable("install"),
  "POST /software/titles/:id/uninstall": onManyInstallable("uninstall"),
  "GET /software/install/:install_uuid/results": {
    places,
    call: async (world, place) => {
      if (place === "missing") return { path: "/software/install/unknown/results" };
      const { id, title } = await installableAt(world, place);
      await world.t.post(`/hosts/${id}/software/${title}/install`);
      const run = await world.t.store.softwareInstallRuns.first({ where: eq("host_id", id) });
      return { path: `/software/install/${run!.uuid}/results` };
    },
  },
  "POST /software/package": {
    places,
    call: async (world, place) => ({
      path: "/software/package",
      body: scriptPackage(place === "none" ? undefined : teamAt(world, place)),
    }),
  },
  "PATCH /software/titles/:id/package": {
    places,
    call: async (world, place) => {
      const { title, team } = await packageAt(world, place);
      return { path: `/software/titles/${title}/package`, body: { team_id: team, self_service: true } };
    },
  },
  "GET /software/self_service_categories": byTeamFilter("/software/self_service_categories"),
  "POST /software/self_service_categories": {
    places,
    call: async (world, place) => ({
      path: "/software/self_service_categories",
      body: { team_id: place === "none" ? 0 : teamAt(world, place), name: `made ${++names}` },
    }),
  },
  "PATCH /software/self_service_categories/:id": onCategory(() => ({ name: `made ${++names}` })),
  "DELETE /software/self_service_categories/:id": onCategory(),
  "GET /software/titles/:id/icon": { places, call: async (world, place) => ({ path: await iconAt(world, place) }) },
  "DELETE /software/titles/:id/icon": { places, call: async (world, place) => ({ path: await iconAt(world, place) }) },
  "PUT /software/titles/:id/icon": {
    places,
    call: async (world, place) => {
      const { title, team } = await packageAt(world, place);
      const image = png(120, 120, `made ${++names}`);
      return { path: `/software/titles/${title}/icon?team_id=${team}`, body: iconForm(image) };
    },
  },
  "PATCH /software/titles/:id/name": {
    places: ["none", "missing"],
    call: async ({ t }, place) => {
      const name = `made ${++names}`;
      const row = { name, source: "apps", bundle_identifier: name, key: name };
      const id = place === "missing" ? MISSING : (await t.store.softwareTitles.insert(row)).id;
      return { path: `/software/titles/${id}/name`, body: { name: "Editor" } };
    },
  },
  "GET /software/titles/:id/package": onPackage("/package", "&alt=media"),
  "POST /software/titles/:id/package/token": onPackage("/package/token", "&alt=media"),
  "DELETE /software/titles/:id/available_for_install": onPackage("/available_for_install"),
  "GET /software/package_hashes": {
    places: ["none"],
    call: async (world) => {
      const { t } = world;
      const sha256 = "0".repeat(64);
      if ((await t.store.softwareInstallers.count(eq("sha256", sha256))) === 0) {
        const { title } = await packageAt(world, "none");
        await t.store.softwareInstallers.update({ where: eq("title_id", title), set: { sha256 } });
      }
      return { path: `/software/package_hashes?sha256=${sha256}` };
    },
  },
  "GET /scripts": byTeamFilter("/scripts"),
  "GET /scripts/:id": onScript(),
  "POST /scripts": {
    places,
    call: async (world, place) => {
      const fields: Record<string, string> = place === "none" ? {} : { team_id: String(teamAt(world, place)) };
      return { path: "/scripts", body: scriptForm("echo", undefined, fields) };
    },
  },
  "POST /scripts/batch": {
    places,
    call: async (world, place) => ({
      path: `/scripts/batch?team_id=${place === "none" ? 0 : teamAt(world, place)}`,
      body: { scripts: [{ name: `${++names}.sh`, script_contents: "ZWNobyBvaw==" }] },
    }),
  },
  "PATCH /scripts/:id": onScript("", () => scriptForm(`echo ${++names}`)),
  "DELETE /scripts/:id": onScript(),
  "GET /hosts/:id/scripts": onHost("/scripts"),
  "POST /scripts/run": {
    places,
    call: async (world, place) => ({
      path: "/scripts/run",
      body: { host_id: await withAgentAt(world, place), script_contents: "echo" },
    }),
  },
  "POST /scripts/run/sync": {
    places,
    call: async (world, place) => {
      const host_id = await withAgentAt(world, place);
      if (place !== "missing") answerSoon(world, host_id);
      return { path: "/scripts/run/sync", body: { host_id, script_contents: "echo" } };
    },
  },
  "POST /scripts/run/batch": {
    places,
    call: async (world, place) => {
      const host_id = place === "missing" ? MISSING : await withAgentAt(world, place);
      return { path: "/scripts/run/batch", body: { script_id: await scriptAt(world, place), host_ids: [host_id] } };
    },
  },
  "GET /scripts/batch": byTeamFilter("/scripts/batch"),
  "GET /scripts/batch/:batch_execution_id": onBatch(),
  "GET /scripts/batch/:batch_execution_id/host-results": onBatch("/host-results?status=pending"),
  "POST /scripts/batch/:batch_execution_id/cancel": onBatch("/cancel"),
  "GET /scripts/results/:execution_id": {
    places,
    call: async (world, place) => {
      if (place === "missing") return { path: "/scripts/results/unknown" };
      const host_id = await withAgentAt(world, place);
      const reply = await world.t.post("/scripts/run", { host_id, script_contents: "echo" });
      const { execution_id } = (await reply.json()) as { execution_id: string };
      return { path: `/scripts/results/${execution_id}` };
    },
  },
  "GET /software/titles": byTeamFilter("/software/titles"),
  "GET /software/titles/report": byTeamFilter("/software/titles/report"),
  "GET /software/titles/:id": onSoftware(({ title_id }) => `/software/titles/${title_id}`),
  "GET /software/versions": byTeamFilter("/software/versions"),
  "GET /software/versions/report": byTeamFilter("/software/versions/report"),
  "GET /software/versions/:id": onSoftware(({ id }) => `/software/versions/${id}`),
  "GET /software/count": byTeamFilter("/software/count"),
  "GET /vulnerabilities": byTeamFilter("/vulnerabilities"),
  "GET /vulnerabilities/report": byTeamFilter("/vulnerabilities/report"),
  "GET /vulnerabilities/status": plain("/vulnerabilities/status"),
  "GET /vulnerabilities/:cve": {
    places: ["own", "other", "none"],
    call: async (world, place) => {
      const version = await makeSoftware(world.t, `made ${++names}`, "1");
      await makeVulnerabilities(world.t, { software: version.id, cves: ["CVE-2026-0001"] });
      return { path: `/vulnerabilities/CVE-2026-0001?team_id=${place === "none" ? 0 : teamAt(world, place)}` };
    },
  },
  "GET /software/app_store_apps": onStoreApps(({ team_id }) => ({
    path: `/software/app_store_apps?team_id=${team_id}`,
  })),
  "POST /software/app_store_apps": onStoreApps(({ team_id }) => ({
    path: "/software/app_store_apps",
    body: { app_store_id: "1", team_id },
  })),
  "PATCH /software/titles/:id/app_store_app": onStoreApps(({ title_id, team_id }) => ({
    path: `/software/titles/${title_id}/app_store_app`,
    body: { team_id, self_service: true },
  })),
  "POST /software/app_store_apps/batch": onStoreApps(({ name }) => ({
    path: `/software/app_store_apps/batch${name === "" ? "" : `?team_name=${encodeURIComponent(name)}`}`,
    body: { app_store_apps: [] },
  })),
  "POST /software/batch": {
    places,
    call: async (world, place) => ({ path: `/software/batch${await teamQuery(world, place)}`, body: { software: [] } }),
  },
  "GET /software/batch/:request_uuid": {
    places,
    call: async (world, place) => {
      if (place === "missing") return { path: "/software/batch/unknown" };
      const path = `/software/batch${await teamQuery(world, place)}`;
      const reply = await world.t.post(path, { software: { packages: [] } });
      return { path: `/software/batch/${((await reply.json()) as { request_uuid: string }).request_uuid}` };
    },
  },
  "POST /software/svc_maintained_apps": {
    places,
    call: async (world, place) => ({
      path: "/software/svc_maintained_apps",
      body: {
        svc_maintained_app_id: (await makeCatalogueApp(world.t)).id,
        team_id: place === "none" ? 0 : teamAt(world, place),
      },
    }),
  },
  "GET /software/svc_maintained_apps": byTeamFilter("/software/svc_maintained_apps"),
  "GET /software/svc_maintained_apps/:id": {
    places,
    call: async (world, place) => {
      const { id } = await makeCatalogueApp(world.t);
      return { path: `/software/svc_maintained_apps/${id}?team_id=${place === "none" ? 0 : teamAt(world, place)}` };
    },
  },
  "GET /os_versions": byTeamFilter("/os_versions"),
  "GET /os_versions/:id": onSoftware(({ os }) => `/os_versions/${os}`),
  "POST /hosts/refetch": onMany("refetch"),
  "POST /hosts/lock": onMany("lock"),
  "POST /hosts/unlock": onMany("unlock"),
  "POST /hosts/wipe": onMany("wipe"),
  "POST /hosts/labels": {
    places,
    call: async (world, place) => {
      const name = `made ${++names}`;
      await world.t.post("/labels", { name, hosts: [] });
      return { path: "/hosts/labels", body: { ids: [await hostAt(world, place)], add: [name] } };
    },
  },
  "POST /hosts/:id/lock": onScripted("/lock"),
  "POST /hosts/:id/unlock": onScripted("/unlock", true),
  "POST /hosts/:id/wipe": onScripted("/wipe"),
  "POST /hosts/:id/clear_passcode": {
    places,
    call: async (world, place) => {
      await turnOnAppleMdm(world.t);
      const id = await hostAt(world, place);
      if (place !== "missing") await makePhone(world.t, id);
      return { path: `/hosts/${id}/clear_passcode` };
    },
  },
  "POST /hosts/:id/name_template/resend": {
    places,
    call: async (world, place) => {
      await turnOnAppleMdm(world.t);
      const id = await hostAt(world, place);
      if (place !== "missing") await makeNamedPhone(world.t, id);
      return { path: `/hosts/${id}/name_template/resend` };
    },
  },
  "GET /hosts/:id/recovery_lock_password": onMacWithPasswords("/recovery_lock_password"),
  "POST /hosts/:id/recovery_lock_password/rotate": onMacWithPasswords("/recovery_lock_password/rotate"),
  "GET /hosts/:id/managed_account_password": onMacWithPasswords("/managed_account_password"),
  "POST /hosts/:id/managed_account_password/rotate": onMacWithPasswords("/managed_account_password/rotate"),
  "GET /hosts/:id/health": onHost("/health"),
  "GET /hosts/:id/setup_experience": onHost("/setup_experience"),
  "GET /hosts/:id/device_url": onHost("/device_url"),
  "GET /hosts/:id/mdm": onHost("/mdm"),
  "GET /hosts/summary/mdm": byTeamFilter("/hosts/summary/mdm"),
  "DELETE /hosts/:id/mdm": {
    places,
    call: async (world, place) => ({ path: `/hosts/${await managedHostAt(world, place)}/mdm` }),
  },
  "PATCH /mdm/hosts/:id/unenroll": {
    places,
    call: async (world, place) => ({ path: `/mdm/hosts/${await managedHostAt(world, place)}/unenroll` }),
  },
  "GET /hosts/:id/desktopadmin": onHost("/desktopadmin"),
  "GET /desktopadmin": byTeamFilter("/desktopadmin"),
  "GET /hosts/:id/device_mapping": onHost("/device_mapping"),
  "GET /scim/Users": plain("/scim/Users"),
  "POST /scim/Users": plain("/scim/Users", () => ({ userName: `made-${++names}@example.com` })),
  "GET /scim/Users/:id": onScim("Users"),
  "PUT /scim/Users/:id": onScim("Users", () => ({ userName: `made-${++names}@example.com` })),
  "PATCH /scim/Users/:id": onScim("Users", renaming),
  "DELETE /scim/Users/:id": onScim("Users"),
  "GET /scim/Groups": plain("/scim/Groups"),
  "POST /scim/Groups": plain("/scim/Groups", () => ({ displayName: `made ${++names}` })),
  "GET /scim/Groups/:id": onScim("Groups"),
  "PUT /scim/Groups/:id": onScim("Groups", () => ({ displayName: `made ${++names}` })),
  "PATCH /scim/Groups/:id": onScim("Groups", renaming),
  "DELETE /scim/Groups/:id": onScim("Groups"),
  "GET /scim/Schemas": plain("/scim/Schemas"),
  "GET /scim/ServiceProviderConfig": plain("/scim/ServiceProviderConfig"),
  "GET /scim/ResourceTypes": plain("/scim/ResourceTypes"),
  "GET /scim/details": plain("/scim/details"),
  "GET /conditional_access/idp/signing_cert": plain("/conditional_access/idp/signing_cert"),
  "GET /conditional_access/idp/vendora/profile": plain("/conditional_access/idp/vendora/profile"),
  "GET /conditional-access/directory": plain("/conditional-access/directory"),
  "GET /hosts/:id/conditional_access": onHost("/conditional_access"),
  "POST /conditional-access/directory": plain("/conditional-access/directory", () => ({
    directory_tenant_id: "11111111-2222-3333-4444-555555555555",
  })),
  "POST /conditional-access/directory/confirm": plain("/conditional-access/directory/confirm"),
  "DELETE /conditional-access/directory": plain("/conditional-access/directory"),
  "GET /directory_graph_credentials": plain("/directory_graph_credentials"),
  "PUT /directory_graph_credentials": plain("/directory_graph_credentials", () => ({
    directory_graph_credentials: [],
  })),
  "DELETE /hosts/:id/device_mapping/idp": onHost("/device_mapping/idp"),
  "PUT /hosts/:id/device_mapping": onHost("/device_mapping", { email: "made@example.com" }),
  "GET /operations": byTeamFilter("/operations"),
  "GET /operations/:id": {
    places,
    call: async (world, place) => {
      const id = place === "missing" ? MISSING : (await makeOperation(world.t, await hostAt(world, place))).id;
      return { path: `/operations/${id}` };
    },
  },
  "POST /operations/cancel": { ...plain("/operations/cancel", () => ({ ids: [MISSING] })), anywhere: true },
  "GET /hosts/:id/activities": onHost("/activities"),
  "GET /hosts/:id/activities/upcoming": onHost("/activities/upcoming"),
  "DELETE /hosts/:id/activities/upcoming/:activity_id": {
    places,
    call: async (world, place) => {
      const host_id = await hostAt(world, place);
      const execution_id = `made ${++names}`;
      if (place !== "missing") await makeOperation(world.t, host_id, { uuid: execution_id });
      return { path: `/hosts/${host_id}/activities/upcoming/${encodeURIComponent(execution_id)}` };
    },
  },
  "POST /mdm/commands/run": {
    places,
    call: async (world, place) => {
      await turnOnAppleMdm(world.t);
      const host = place === "missing" ? null : await makeManagedMac(world.t, { team_id: teamOf(world, place) });
      const command = appleCommand("ProfileList");
      return { path: "/mdm/commands/run", body: { command, host_uuids: [host?.uuid ?? "missing"] } };
    },
  },
  "POST /mdm/vendora/enqueue": {
    places,
    call: async (world, place) => {
      await turnOnAppleMdm(world.t);
      const host = place === "missing" ? null : await makeManagedMac(world.t, { team_id: teamOf(world, place) });
      const command = appleCommand("ProfileList");
      return { path: "/mdm/vendora/enqueue", body: { command, device_ids: [host?.uuid ?? "missing"] } };
    },
  },
  "GET /mdm/commandresults": onCommand(({ uuid }) => `/mdm/commandresults?command_uuid=${uuid}`),
  "GET /mdm/commands": onCommand(({ host }) => `/mdm/commands?host_identifier=${host.uuid}`),
  "DELETE /hosts/:id/commands/:command_uuid": onCommand(({ uuid, host }) => `/hosts/${host.id}/commands/${uuid}`),
  "GET /hosts/:id/certificates": onHost("/certificates"),
  "GET /hosts/:id/configuration_profiles": onHost("/configuration_profiles"),
  "GET /hosts/:id/encryption_keys": onHost("/encryption_keys"),
  "GET /hosts/:id/encryption_key": {
    places,
    call: async (world, place) => {
      const id = await hostAt(world, place);
      const key_updated_at = world.t.clock.iso();
      if (place !== "missing")
        await world.t.store.hostDiskEncryption.insert({ id, status: "verified", key: "K", key_updated_at });
      return { path: `/hosts/${id}/encryption_key` };
    },
  },
  "POST /labels": { ...plain("/labels", () => ({ name: `made ${++names}` })), anywhere: true },
  "PATCH /labels/:id": onLabel(({ id }) => `/labels/${id}`, { description: "changed" }),
  "GET /labels/:id": onLabel(({ id }) => `/labels/${id}`),
  "GET /labels/:id/uses": anywhere("/labels/1/uses"),
  "POST /labels/preview": { ...plain("/labels/preview", () => ({ hosts: [] })), anywhere: true },
  "GET /labels": anywhere("/labels"),
  "GET /labels/report": anywhere("/labels/report"),
  "GET /labels/summary": anywhere("/labels/summary"),
  "GET /labels/:id/hosts": byTeamFilter("/labels/1/hosts"),
  "DELETE /labels/:name": onLabel(({ name }) => `/labels/${encodeURIComponent(name)}`),
  "DELETE /labels/id/:id": onLabel(({ id }) => `/labels/id/${id}`),
  "POST /spec/labels": {
    ...plain("/spec/labels", () => ({ specs: [{ name: `made ${++names}`, query: "SELECT 1" }] })),
    anywhere: true,
  },
  "GET /spec/labels": anywhere("/spec/labels"),
  "GET /spec/labels/:name": anywhere("/spec/labels/macOS"),
  "POST /hosts/:id/labels": onHost("/labels", { labels: [] }),
  "DELETE /hosts/:id/labels": onHost("/labels", { labels: [] }),
  "POST /translate": {
    ...plain("/translate", () => ({ list: [{ type: "label", payload: { identifier: "macOS" } }] })),
    anywhere: true,
  },
  "POST /hosts/:id/query": liveOn(({ id }) => ({ path: `/hosts/${id}/query`, body: { query: "SELECT 1" } })),
  "POST /hosts/identifier/:identifier/query": liveOn(({ uuid }) => ({
    path: `/hosts/identifier/${uuid}/query`,
    body: { query: "SELECT 1" },
  })),
  "POST /queries/:id/run": {
    places: ["own"],
    call: async (world) => ({
      path: `/queries/${(await openQuery(world)).id}/run`,
      body: { host_ids: [(await sleeping(world)).id] },
    }),
  },
  "GET /queries/run": {
    places: ["own"],
    call: async (world) => ({
      path: `/queries/run?query_ids=${(await openQuery(world)).id}&host_ids=${(await sleeping(world)).id}`,
    }),
  },
  "POST /queries/run": liveOn(({ id }) => ({ path: "/queries/run", body: newSql({ hosts: [id] }) })),
  "POST /queries/run_by_identifiers": liveOn(({ hostname }) => ({
    path: "/queries/run_by_identifiers",
    body: newSql({ hosts: [hostname] }),
  })),
  "POST /queries/live": liveOn(({ id }) => ({ path: "/queries/live", body: newSql({ hosts: [id] }) })),
  "GET /queries/live": anywhere("/queries/live"),
  "POST /targets": { ...plain("/targets", () => ({})), anywhere: true },
  "POST /selectors/check": { ...plain("/selectors/check", () => ({ where: "online" })), anywhere: true },
  "POST /targets/count": { ...plain("/targets/count", () => ({})), anywhere: true },
  "POST /hosts/search": { ...plain("/hosts/search", () => ({})), anywhere: true },
  "GET /global/policies": anywhere("/global/policies"),
  "GET /global/policies/report": anywhere("/global/policies/report"),
  "GET /policies/count": anywhere("/policies/count"),
  "GET /global/policies/:id": onGlobalPolicy(),
  "POST /global/policies": plain("/global/policies", () => ({ name: `made ${++names}`, query: "SELECT 1" })),
  "PATCH /global/policies/:id": { ...onGlobalPolicy({ description: "changed" }), anywhere: false },
  "POST /global/policies/delete": {
    places: ["none"],
    call: async ({ t }) => ({ path: "/global/policies/delete", body: { ids: [(await makePolicy(t)).id] } }),
  },
  "GET /teams/:id/policies": onTeamPolicies(""),
  "GET /teams/:id/policies/report": onTeamPolicies("/report"),
  "GET /teams/:team_id/policies/count": onTeamPolicies("/count"),
  "GET /teams/:team_id/policies/:policy_id": onTeamPolicy(),
  "POST /teams/:id/policies": onTeamPolicies("", () => ({ name: `made ${++names}`, query: "SELECT 1" })),
  "PATCH /teams/:team_id/policies/:policy_id": onTeamPolicy(() => ({ description: "changed" })),
  "POST /teams/:team_id/policies/delete": {
    places,
    call: async (world, place) => ({
      path: `/teams/${pathTeam(world, place)}/policies/delete`,
      body: { ids: [await policyAt(world, place)] },
    }),
  },
  "POST /automations/reset": {
    places,
    call: async (world, place) => ({
      path: "/automations/reset",
      body: { policy_ids: [await policyAt(world, place)] },
    }),
  },
  "POST /policies/:id/reset": {
    places,
    call: async (world, place) => ({ path: `/policies/${await policyAt(world, place)}/reset`, body: {} }),
  },
  "GET /policies/:id/automation_activities": {
    places,
    call: async (world, place) => ({ path: `/policies/${await policyAt(world, place)}/automation_activities` }),
  },
  "POST /spec/policies": {
    places: ["own", "other", "none"],
    call: async (world, place) => {
      const teamId = teamOf(world, place);
      const team = teamId === null ? "No team" : (await world.t.store.teams.get(teamId))!.name;
      return { path: "/spec/policies", body: { specs: [{ name: `made ${++names}`, query: "SELECT 1", team }] } };
    },
  },
  "POST /spec/state": { ...plain("/spec/state", () => ({})), anywhere: true },
  "POST /spec/apply": {
    places,
    call: async (world, place) => {
      const teamId = place === "missing" ? null : teamOf(world, place);
      const owner =
        place === "missing" ? "None such" : teamId === null ? "No team" : (await world.t.store.teams.get(teamId))!.name;
      const value = { query: "SELECT 1" };
      return {
        path: "/spec/apply",
        body: { changes: [{ kind: "policy", owner, name: `made ${++names}`, action: "create", value }] },
      };
    },
  },
  // One that is missing would be made, which takes a role of its own.
  "POST /spec/teams": {
    places: ["own", "other"],
    call: async (world, place) => {
      const { name } = (await world.t.store.teams.get(teamOf(world, place)!))!;
      return { path: "/spec/teams", body: { specs: [{ name, agent_options: { config: {} } }] } };
    },
  },
  "POST /autofill/policy": { ...plain("/autofill/policy", () => ({ sql: "SELECT 1" })), anywhere: true },
  "GET /queries": byQueryTeam("/queries"),
  "GET /queries/report": byQueryTeam("/queries/report"),
  "GET /queries/:id": onQuery(({ id }) => `/queries/${id}`, undefined, elsewhere),
  "POST /queries": {
    places: ["own", "other", "none"],
    call: async (world, place) => ({
      path: "/queries",
      body: { name: `made ${++names}`, query: "SELECT 1", team_id: teamOf(world, place) },
    }),
  },
  "PATCH /queries/:id": onQuery(({ id }) => `/queries/${id}`, { description: "changed" }),
  "DELETE /queries/:name": {
    places: ["own", "other", "none"],
    call: async (world, place) => ({
      path: `/queries/${encodeURIComponent((await queryAt(world, place)).name)}`,
      body: { team_id: teamOf(world, place) },
    }),
  },
  "DELETE /queries/id/:id": onQuery(({ id }) => `/queries/id/${id}`),
  "POST /queries/delete": {
    places,
    call: async (world, place) => ({ path: "/queries/delete", body: { ids: [(await queryAt(world, place)).id] } }),
  },
  "GET /queries/:id/report": onQuery(({ id }) => `/queries/${id}/report`, undefined, elsewhere),
  "GET /queries/:id/report/csv": onQuery(({ id }) => `/queries/${id}/report/csv`, undefined, elsewhere),
  "GET /hosts/:id/queries/:query_id": {
    places,
    call: async (world, place) => ({
      path: `/hosts/${await hostAt(world, place)}/queries/${(await queryAt(world, "own")).id}`,
    }),
  },
  "POST /spec/queries": {
    places: ["own", "other", "none"],
    call: async (world, place) => {
      const teamId = teamOf(world, place);
      const team = teamId === null ? null : (await world.t.store.teams.get(teamId))!.name;
      return { path: "/spec/queries", body: { specs: [{ name: `made ${++names}`, query: "SELECT 1", team }] } };
    },
  },
  "GET /spec/queries": byQueryTeam("/spec/queries"),
  "GET /spec/queries/:name": {
    places: ["own", "other"],
    call: async (world, place) => ({
      path: `/spec/queries/${encodeURIComponent((await queryAt(world, place)).name)}?team_id=${teamAt(world, place)}`,
    }),
  },
  "GET /global/schedule": anywhere("/global/schedule"),
  "POST /global/schedule": {
    places: ["none"],
    call: async (world) => ({
      path: "/global/schedule",
      body: { query_id: (await queryAt(world, "none")).id, interval: 60 },
    }),
  },
  "PATCH /global/schedule/:id": onQuery(({ id }) => `/global/schedule/${id}`, { interval: 61 }, ["none", "missing"]),
  "DELETE /global/schedule/:id": onQuery(({ id }) => `/global/schedule/${id}`, undefined, ["none", "missing"]),
  "GET /teams/:id/schedule": onTeam("/schedule"),
  "POST /teams/:id/schedule": {
    places: elsewhere,
    call: async (world, place) => ({
      path: `/teams/${teamAt(world, place)}/schedule`,
      body: { query_id: (await queryAt(world, "none")).id, interval: 60 },
    }),
  },
  "PATCH /teams/:team_id/schedule/:scheduled_query_id": onQuery(
    ({ id }, world, place) => `/teams/${teamAt(world, place)}/schedule/${id}`,
    { interval: 61 },
    elsewhere,
  ),
  "DELETE /teams/:team_id/schedule/:scheduled_query_id": onQuery(
    ({ id }, world, place) => `/teams/${teamAt(world, place)}/schedule/${id}`,
    undefined,
    elsewhere,
  ),
  "GET /packs": plain("/packs"),
  "GET /packs/:id": onPack(({ id }) => `/packs/${id}`),
  "POST /packs": plain("/packs", () => ({ name: `made ${++names}` })),
  "PATCH /packs/:id": onPack(({ id }) => `/packs/${id}`, { description: "changed" }),
  "DELETE /packs/:name": onPack(({ name }) => `/packs/${encodeURIComponent(name)}`),
  "DELETE /packs/id/:id": onPack(({ id }) => `/packs/id/${id}`),
  "GET /packs/:id/scheduled": onPack(({ id }) => `/packs/${id}/scheduled`),
  "POST /schedule": {
    places: ["none"],
    call: async (world) => {
      const { store, clock } = world.t;
      const at = { created_at: clock.iso(), updated_at: clock.iso() };
      const pack = await store.packs.insert({ ...at, name: `made ${++names}` });
      const query_id = (await queryAt(world, "none")).id;
      return { path: "/schedule", body: { pack_id: pack.id, query_id, interval: 60, snapshot: true, removed: false } };
    },
  },
  "GET /schedule/:id": onPack((_, id) => `/schedule/${id}`),
  "PATCH /schedule/:id": onPack((_, id) => `/schedule/${id}`, { interval: 61 }),
  "DELETE /schedule/:id": onPack((_, id) => `/schedule/${id}`),
  "POST /spec/packs": plain("/spec/packs", () => ({ specs: [{ name: `made ${++names}` }] })),
  "GET /spec/packs": plain("/spec/packs"),
  "GET /spec/packs/:name": onPack(({ name }) => `/spec/packs/${encodeURIComponent(name)}`),
  "GET /sessions/:id": {
    places,
    call: async (world, place) => ({ path: `/sessions/${await sessionAt(world, place)}` }),
  },
  "DELETE /sessions/:id": {
    places,
    call: async (world, place) => ({ path: `/sessions/${await sessionAt(world, place)}` }),
  },
  "GET /users/:id/sessions": onUser("/sessions"),
  "DELETE /users/:id/sessions": onUser("/sessions"),
  "GET /teams": anywhere("/teams"),
  "GET /teams/:id": onTeam(),
  "POST /teams": plain("/teams", () => ({ name: `made ${++names}` })),
  "PATCH /teams/:id": onTeam("", () => ({ description: `d${++names}` })),
  "DELETE /teams/:id": {
    places: ["own", "missing"],
    // A team of its own, that it may go: "own" for nobody, but deleting takes a global role anyway.
    call: async ({ t }, place) => ({ path: `/teams/${place === "missing" ? MISSING : (await makeTeam(t)).id}` }),
  },
  "GET /teams/:id/users": onTeam("/users"),
  "PATCH /teams/:id/users": onTeam("/users", () => ({ users: [] })),
  "DELETE /teams/:id/users": onTeam("/users", () => ({ users: [] })),
  "POST /teams/:id/agent_options": onTeam("/agent_options", () => ({ config: {} })),
  "GET /teams/0": plain("/teams/0"),
  "PATCH /teams/0": plain("/teams/0", () => ({})),
  "POST /config/test_mail": plain("/config/test_mail", () => ({})),
  "GET /activities/export": plain("/activities/export"),
  "GET /activities/stream": plain("/activities/stream"),
  "GET /audit/verify": plain("/audit/verify"),
  "GET /jobs": plain("/jobs"),
  "POST /trigger": plain("/trigger?name=session_cleanup"),
  "GET /custom_variables": anywhere("/custom_variables"),
  "POST /custom_variables": plain("/custom_variables", () => ({ name: `MADE_${++names}`, value: "made-value" })),
  "PATCH /custom_variables/:id": onVariable("PATCH"),
  "DELETE /custom_variables/:id": onVariable("DELETE"),
  "PUT /spec/secret_variables": plain("/spec/secret_variables", () => ({
    secrets: [{ name: `MADE_${++names}`, value: "made-value" }],
  })),
  "GET /custom_host_vitals": anywhere("/custom_host_vitals"),
  "POST /custom_host_vitals": plain("/custom_host_vitals", () => ({ name: `made ${++names}` })),
  "PATCH /custom_host_vitals/:id": onVital(() => ({ name: `renamed ${++names}` })),
  "DELETE /custom_host_vitals/:id": onVital(),
  "PUT /spec/custom_host_vitals": plain("/spec/custom_host_vitals", () => ({
    custom_host_vitals: [{ name: `made ${++names}` }],
  })),
  "PUT /hosts/:id/custom_host_vitals/:vital_id": {
    places,
    call: async (world, place) => ({
      path: `/hosts/${await hostAt(world, place)}/custom_host_vitals/${await vitalAt(world)}`,
      body: { value: "made" },
    }),
  },
  "GET /invites": plain("/invites"),
  "POST /invites": plain("/invites", () => ({ name: "Made", email: email(), global_role: "observer" })),
  "PATCH /invites/:id": onInvite({ name: "Renamed" }),
  "DELETE /invites/:id": onInvite(),
  "POST /users/roles/spec": {
    places: ["own", "other", "none", "missing"],
    call: async (world, place) => {
      const user = place === "missing" ? null : await world.t.store.users.get(await userAt(world, place));
      const team = place === "own" || place === "other" ? (await world.t.store.teams.get(world[place]))!.name : null;
      const wanted = team === null ? { global_role: "maintainer" } : { teams: [{ team, role: "maintainer" }] };
      return { path: "/users/roles/spec", body: { spec: { roles: { [user?.email ?? "none@example.com"]: wanted } } } };
    },
  },
  "GET /users": byTeamFilter("/users"),
  "GET /users/report": byTeamFilter("/users/report"),
  "POST /users/admin": {
    places: ["own", "other", "none"],
    call: async (world, place) => {
      const team = teamOf(world, place);
      const role = team === null ? { global_role: "observer" } : { teams: [{ id: team, role: "observer" }] };
      return { path: "/users/admin", body: { name: "Made", email: email(), password: "a-good-passw0rd!", ...role } };
    },
  },
  "GET /users/:id": onUser(),
  "PATCH /users/:id": onUser("", { name: "Renamed" }),
  "DELETE /users/:id": onUser(),
  "POST /users/:id/require_password_reset": onUser("/require_password_reset", { require: true }),
};

async function sessionAt(world: World, place: Place): Promise<number> {
  if (place === "missing") return MISSING;
  await makeSession(world.t, await userAt(world, place));
  return (await world.t.store.sessions.max("id")) as number;
}
