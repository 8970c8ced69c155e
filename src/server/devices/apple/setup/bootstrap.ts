// Bootstrap packages: upload, download, and the command with which Macs install them.

import type { z } from "zod";
import type { Download, StoredFile } from "../../../../api/bodies.ts";
import { type BootstrapPackage, bootstrapApi } from "../../../../api/devices/bootstrap.ts";
import { fullPath } from "../../../../api/paths.ts";
import { PackageError } from "../../../../packages/package.ts";
import {
  countBootstraps,
  endBootstrap,
  forgetBootstrap,
  isBootstrapping,
  sentBootstrap,
} from "../../../hosts/mdm-status/bootstrap.ts";
import { recordActivity } from "../../../platform/activities/record.ts";
import { type Context, within } from "../../../platform/core/context.ts";
import { alreadyExists, badRequest, notThere } from "../../../platform/core/errors.ts";
import { downloadOf, partsOf } from "../../../platform/files/service.ts";
import { eq } from "../../../platform/store/query.ts";
import { UniqueViolation } from "../../../platform/store/store.ts";
import type { RowOf } from "../../../platform/store/table.ts";
import { requireAppleMdm } from "../../gate.ts";
import { teamFor } from "../../profiles/access.ts";
import type { TeamName } from "../../profiles/platform.ts";
import type { AppleDeviceListener, EnrolledAs, Enrollment } from "../channel/listeners.ts";
import { appleCommandKind } from "../commands/kind.ts";
import { sendAppleCommands } from "../commands/send.ts";
import { teamKey } from "../portal/assign.ts";
import { deviceUrl } from "../trust/service.ts";
import { changeSetup } from "./settings.ts";
import type { SetupStep } from "./steps.ts";
import type { bootstrapPackages } from "./tables.ts";
import { checkPackage } from "./xar.ts";

export type BootstrapRow = RowOf<typeof bootstrapPackages>;
type UploadInput = z.output<(typeof bootstrapApi)["upload"]["body"]>;

export const packageOf = ({ store }: Pick<Context, "store">, teamId: number | null): Promise<BootstrapRow | null> =>
  store.bootstrapPackages.first({ where: eq("team_key", teamKey(teamId)) });

export async function addPackage(ctx: Context, input: UploadInput): Promise<Record<string, never>> {
  const team = await teamFor(ctx, "setup:write", input.team_id);
  await requireAppleMdm(ctx);
  if (await packageOf(ctx, team.team_id)) throw hasOne(team);
  await checkFile(ctx, input.package);
  const { team_id } = team;
  const { manual_agent_install } = input;
  await ctx.store.tx(async (store) => {
    const inside = within(ctx, store);
    if (manual_agent_install !== undefined) await changeSetup(inside, { team_id, manual_agent_install });
    await keepPackage(inside, team, { name: input.package.name || "bootstrap.pkg", file_id: input.package.id });
  });
  return {};
}

/** Call it in a transaction. 422 if the team has one already. */
export async function keepPackage(
  inside: Context,
  team: TeamName,
  file: Pick<BootstrapRow, "name" | "file_id">,
): Promise<void> {
  const { team_id } = team;
  const row = { created_at: inside.clock.iso(), team_key: teamKey(team_id), team_id, token: inside.random.token(32) };
  try {
    await inside.store.bootstrapPackages.insert({ ...row, ...file });
  } catch (error) {
    throw error instanceof UniqueViolation ? hasOne(team) : error;
  }
  await recordActivity(inside, "added_bootstrap_package", { bootstrap_package_name: file.name, ...team });
}

export async function dropPackage(inside: Context, team: TeamName, { id, name }: BootstrapRow): Promise<void> {
  await inside.store.bootstrapPackages.delete(eq("id", id));
  await recordActivity(inside, "deleted_bootstrap_package", { bootstrap_package_name: name, ...team });
}

const hasOne = ({ team_name: name }: TeamName) =>
  alreadyExists(`${name === null ? "no team" : `the team ${name}`} has a bootstrap package already: delete it first`);

/** 400 if Macs would not install it. */
export async function checkFile(ctx: Context, { id, name }: Pick<StoredFile, "id" | "name">): Promise<void> {
  try {
    await checkPackage({ name, ...(await partsOf(ctx, id)) });
  } catch (error) {
    throw error instanceof PackageError ? badRequest(`the file ${error.message}`, "package") : error;
  }
}

async function requirePackage(ctx: Context, { team_id }: TeamName): Promise<BootstrapRow> {
  const row = await packageOf(ctx, team_id);
  if (!row) throw notThere("there is no bootstrap package");
  return row;
}

export async function describePackage(ctx: Context, teamId: number, forUpdate: boolean): Promise<BootstrapPackage> {
  const team = await teamFor(ctx, forUpdate ? "setup:write" : "setup:read", teamId);
  await requireAppleMdm(ctx);
  const { name, token, created_at, file_id } = await requirePackage(ctx, team);
  const { sha256 } = (await ctx.store.files.get(file_id))!;
  return { name, team_id: team.team_id ?? 0, sha256, token, created_at };
}

export async function deletePackage(ctx: Context, teamId: number): Promise<Record<string, never>> {
  const team = await teamFor(ctx, "setup:write", teamId);
  await requireAppleMdm(ctx);
  await ctx.store.tx(async (store) => {
    const inside = within(ctx, store);
    await dropPackage(inside, team, await requirePackage(inside, team));
  });
  return {};
}

export async function downloadPackage(ctx: Context, token: string): Promise<Download> {
  await requireAppleMdm(ctx);
  const row = await ctx.store.bootstrapPackages.first({ where: eq("token", token) });
  if (!row) throw notThere("no bootstrap package has this token");
  return downloadOf(ctx, row.file_id, { name: row.name });
}

export async function packageSummary(ctx: Context, teamId: number | undefined) {
  const { team_id } = await teamFor(ctx, "mdm:read", teamId);
  await requireAppleMdm(ctx);
  return countBootstraps(ctx.store, team_id ?? 0);
}

/** Before profiles, which may need what it installs. */
export const bootstrapCommand = appleCommandKind({
  name: "apple_bootstrap",
  title: "bootstrap package",
  priority: 5,
  async ended({ store }, { host_id }, { state, result }) {
    const detail = result === null ? "the command was cancelled" : result.detail;
    await endBootstrap(store, host_id, {
      status: state === "answered" ? "installed" : "failed",
      detail: state === "answered" ? "" : detail,
    });
  },
});

async function sendPackage(inside: Context, device: Enrollment, { host }: EnrolledAs): Promise<void> {
  const { store } = inside;
  const { host_id: hostId, kind } = device;
  const row = kind === "automatic" && host.platform === "darwin" ? await packageOf(inside, host.team_id) : null;
  if (!row) return;
  const { size, sha256 } = (await store.files.get(row.file_id))!;
  const path = `${fullPath(bootstrapApi.download, "latest")}?token=${row.token}`;
  const url = await deviceUrl({ config: inside.config.over(store), settings: inside.settings }, path);
  await sentBootstrap(store, hostId, row.name);
  // The device enrolls all the same.
  if (url === null) return endBootstrap(store, hostId, { status: "failed", detail: "the server has no server_url" });
  // A hash covers as many bytes as `sha256-size`: here there is one for the whole file.
  const assets = [{ kind: "software-package", "sha256-size": size, sha256s: [sha256], url }];
  const Manifest = { items: [{ assets, metadata: { kind: "software", title: row.name, sizeInBytes: size } }] };
  await sendAppleCommands(inside, bootstrapCommand, [
    { hostId, name: row.name, command: { RequestType: "InstallEnterpriseApplication", Manifest } },
  ]);
}

/** A Mac that has enrolled automatically gets the package once, whether it waits for it or not. */
export const bootstrapListener: AppleDeviceListener = {
  enrolled: sendPackage,
  reset: ({ store }, { host_id }) => forgetBootstrap(store, host_id),
};

export const bootstrapStep: SetupStep = {
  name: "bootstrap package",
  isDone: async ({ store }, { host_id }) => !(await isBootstrapping(store, host_id)),
};
