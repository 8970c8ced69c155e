// Uploads, changes, downloads and removals of packages by users.

import type { z } from "zod";
import type { Download, StoredFile } from "../../../api/bodies.ts";
import { fieldNames, pickSet, recordOf } from "../../../api/plain-fields.ts";
import {
  newPackageFields,
  type Package,
  type PackageFields,
  packageFields,
  type packagesApi,
  packageTexts,
} from "../../../api/software/packages.ts";
import { checkPreInstallQuery } from "../../checks/policies/patch.ts";
import { changingPolicies } from "../../checks/policies/service.ts";
import { resolveTargets } from "../../hosts/labels/targeting.ts";
import { minutes } from "../../platform/core/clock.ts";
import type { Context } from "../../platform/core/context.ts";
import { badRequest, conflict, invalid, notFound, notThere } from "../../platform/core/errors.ts";
import { checkUnchanged } from "../../platform/core/http/unchanged.ts";
import { authorize, inTeam } from "../../platform/core/security/access.ts";
import { downloadOf } from "../../platform/files/service.ts";
import { issueToken, takeToken } from "../../platform/mail/one-time.ts";
import { and, everything, oneOf } from "../../platform/store/query.ts";
import { type TeamScope, teamIdNamed, teamScope } from "../../settings/teams/access.ts";
import { titleIdFor } from "../software/titles/titles.ts";
import { installerFor } from "./access.ts";
import { addInstallPolicy, mentionsPatching, setPatching } from "./automatic.ts";
import type { Installer } from "./hosts.ts";
import { checkPackageQuotas, packageSizes } from "./quotas.ts";
import { type ReadFile, readInstaller } from "./read.ts";
import { checkScripts, checkScriptVariables, isScript, sentTexts, type Texts } from "./scripts.ts";
import {
  createInstaller,
  deleteInstaller,
  type InstallerChanges,
  type InstallerFile,
  installedDuringSetup,
  updateInstaller,
} from "./service.ts";
import { packagesOnWire, policiesThatInstall } from "./wire.ts";

const FILE_FIELD = "software";

const fileOf = ({ id, name, size, sha256 }: StoredFile): InstallerFile => ({ id, name, size, sha256 });

const wire = async (ctx: Context, installer: Installer): Promise<Package> =>
  (await packagesOnWire(ctx, [installer]))[0]!;

/** An empty text in a form stands for an empty list. */
const trimmedNames = (names: readonly string[] | undefined): string[] | undefined =>
  names === undefined ? undefined : [...new Set(names.map((name) => name.trim()).filter((name) => name !== ""))];

const labelsOf = ({ labels_include_all, labels_include_any, labels_exclude_any }: PackageFields) => ({
  labels_include_all: trimmedNames(labels_include_all),
  labels_include_any: trimmedNames(labels_include_any),
  labels_exclude_any: trimmedNames(labels_exclude_any),
});

/** Given texts, and the defaults of the file in place of those that are not given. */
export function textsFor({ read, scripts }: Pick<ReadFile, "read" | "scripts">, input: Texts) {
  const texts = {
    ...recordOf(packageTexts, (field) => input[field] ?? ""),
    install_script: input.install_script || (isScript(read.kind) ? "" : scripts.install),
    uninstall_script: input.uninstall_script || scripts.uninstall,
  };
  checkScripts(read, texts);
  return isScript(read.kind) ? { ...texts, install_script: scripts.install } : texts;
}

type UploadInput = z.output<typeof packagesApi.upload.body>;

export async function uploadPackage(ctx: Context, input: UploadInput): Promise<{ software_package: Package }> {
  const team = await teamScope(ctx, "packages:write", input.team_id);
  const file = fileOf(input.software);
  const content = await readInstaller(ctx, file, FILE_FIELD);
  const texts = textsFor(content, sentTexts(ctx, input));
  if (input.automatic_install) authorize(ctx, "policies:write", team.team_id);
  return changingPackages(ctx, async (inside) => {
    await checkScriptVariables(inside.store, texts, team.team_id);
    const installer = await createInstaller(inside, {
      team,
      file,
      read: content.read,
      choices: {
        ...texts,
        ...pickSet(input, fieldNames(newPackageFields)),
        categories: trimmedNames(input.categories) ?? [],
      },
      labels: (await resolveTargets(inside, labelsOf(input), "software")) ?? [],
    });
    if (input.automatic_install) await addInstallPolicy(inside, installer);
    return { software_package: await wire(inside, installer) };
  });
}

/**
 * A transaction under the lock of policies, which install packages: one that was just named is not removed. 413 if
 * packages have grown beyond their quotas.
 */
export const changingPackages = <T>(ctx: Context, work: (inside: Context) => Promise<T>): Promise<T> =>
  changingPolicies(ctx, async (inside) => {
    const before = await packageSizes(inside);
    const value = await work(inside);
    await checkPackageQuotas(inside, before);
    return value;
  });

const PINNING: ReadonlySet<string> = new Set(["team_id", "version"]);

/** Pins a package to a version that its catalogue has. Not in a transaction. */
export type PinVersion = (ctx: Context, installer: Installer, version: string) => Promise<Installer>;

type Change = z.output<typeof packagesApi.update.body>;

export async function changePackage(
  ctx: Context,
  titleId: number,
  { platform, url, ...input }: Change,
  pinVersion: PinVersion,
): Promise<{ software_installer: Package }> {
  const team = await teamScope(ctx, "packages:write", input.team_id);
  const before = await installerFor(ctx, team, titleId);
  checkUnchanged<{ platform: string; url: string }>({ platform, url }, { platform: before.platform, url: before.url });
  if (input.version !== undefined) {
    const [other] = Object.entries(input).find(([name, value]) => value !== undefined && !PINNING.has(name)) ?? [];
    if (other !== undefined) throw invalid("version", `must be the only change, without ${other}`);
    return { software_installer: await wire(ctx, await pinVersion(ctx, before, input.version)) };
  }
  const file = input.software === undefined ? undefined : fileOf(input.software);
  const content = file === undefined ? undefined : await readInstaller(ctx, file, FILE_FIELD);
  if (content !== undefined && content.read.kind !== before.kind)
    throw invalid(
      FILE_FIELD,
      `the file has the type .${content.read.kind}, the package that it is to replace .${before.kind}`,
    );
  const texts = changedTexts(before, content, sentTexts(ctx, input));
  if (input.automatic_install || mentionsPatching(input)) authorize(ctx, "policies:write", team.team_id);
  return changingPackages(ctx, async (inside) => {
    const { store } = inside;
    const installer = await store.softwareInstallers.get(before.id);
    // Deleted at this moment.
    if (installer === null) throw notThere(`the team offers no package of the software title ${titleId} any more`);
    if (content !== undefined && (await titleIdFor(store, content.read.title)) !== titleId)
      throw invalid(FILE_FIELD, `the file is a package of another title: ${JSON.stringify(content.read.title.name)}`);
    await checkScriptVariables(store, texts, installer.team_id);
    await checkPreInstallQuery(store, installer, texts.pre_install_query ?? installer.pre_install_query);
    const changes: InstallerChanges = {
      ...(file === undefined ? {} : { file }),
      ...(content === undefined ? {} : { read: content.read }),
      choices: {
        ...texts,
        ...defined({
          ...pickSet(input, fieldNames(packageFields)),
          categories: trimmedNames(input.categories),
          display_name: input.display_name?.trim(),
        }),
        // The file comes from the user, no longer from an address.
        ...(file === undefined ? {} : { url: "" }),
      },
      labels: await resolveTargets(inside, labelsOf(input), "software"),
    };
    const changed = await updateInstaller(inside, installer, team, changes);
    if (input.automatic_install && (await policiesThatInstall(store, changed)).length === 0)
      await addInstallPolicy(inside, changed);
    if (mentionsPatching(input)) await setPatching(inside, changed, team, input);
    return { software_installer: await wire(inside, changed) };
  });
}

const defined = <T extends object>(fields: T) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };

/** The texts that change. A new file of a script package brings its script. */
function changedTexts(before: Installer, content: ReadFile | undefined, texts: Texts): Texts & Partial<Installer> {
  checkScripts(before, {
    ...recordOf(packageTexts, (field) => texts[field] ?? before[field]),
    install_script: texts.install_script ?? (isScript(before.kind) ? "" : before.install_script),
  });
  return {
    ...defined(texts),
    ...(content && isScript(before.kind) ? { install_script: content.scripts.install } : {}),
  };
}

const teamForRead = (ctx: Context, teamId: number): Promise<TeamScope> => teamScope(ctx, "packages:read", teamId);

const downloadFor = (ctx: Context, { file_id, file_name }: Installer): Promise<Download> =>
  downloadOf(ctx, file_id, { name: file_name });

export const downloadPackage = async (ctx: Context, titleId: number, teamId: number): Promise<Download> =>
  downloadFor(ctx, await installerFor(ctx, await teamForRead(ctx, teamId), titleId));

const TOKEN_LIFETIME = minutes(10);

export async function createDownloadToken(ctx: Context, titleId: number, teamId: number): Promise<{ token: string }> {
  const { id } = await installerFor(ctx, await teamForRead(ctx, teamId), titleId);
  const data = { installer: String(id) };
  return { token: await issueToken(ctx, "package_download", ctx.user.id, TOKEN_LIFETIME, data) };
}

export async function downloadByToken(ctx: Context, titleId: number, token: string): Promise<Download> {
  const tokenRow = await takeToken(ctx, "package_download", token);
  const installer = tokenRow && (await ctx.store.softwareInstallers.get(Number(tokenRow.data?.installer)));
  if (!installer || installer.title_id !== titleId) throw notThere("this token is unknown, used or expired");
  return downloadFor(ctx, installer);
}

/** In the caller's transaction (`changingPackages`). */
export async function deletePackage(inside: Context, team: TeamScope, titleId: number): Promise<void> {
  const installer = await installerFor(inside, team, titleId);
  const [policy] = await policiesThatInstall(inside.store, installer);
  if (policy) throw conflict(`the policy ${JSON.stringify(policy.name)} installs the package: change it first`);
  if (installer.install_during_setup) throw installedDuringSetup("package");
  await deleteInstaller(inside, installer, team);
}

const HASHES_MAX = 1_000;

export async function checkHashes(
  ctx: Context,
  { sha256, team_name }: z.output<typeof packagesApi.hashes.query>,
): Promise<Record<string, never>> {
  const digests = [...new Set(sha256.split(",").map((digest) => digest.trim()))];
  if (digests.length > HASHES_MAX) throw badRequest(`at most ${HASHES_MAX} digests can be given`, "sha256");
  const wrong = digests.find((digest) => !/^[0-9a-f]{64}$/.test(digest));
  if (wrong !== undefined) throw badRequest("must be SHA-256 digests of 64 hexadecimal digits", "sha256");
  const teamId = await teamIdNamed(ctx, team_name);
  authorize(ctx, "packages:read", teamId ?? null);
  const where = and(oneOf("sha256", digests), teamId === undefined ? everything : inTeam(teamId));
  const storedDigests = new Set(
    (await ctx.store.softwareInstallers.pick(["sha256"], { where })).map((row) => row.sha256),
  );
  const missing = digests.filter((digest) => !storedDigests.has(digest));
  if (missing.length > 0) throw notFound("package", missing[0]!, "sha256");
  return {};
}
