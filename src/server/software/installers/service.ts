// Adds, changes and removes the packages that teams offer. Whoever calls these functions has read and checked the file.

import type { PackageText, packageFields } from "../../../api/software/packages.ts";
import { POLICIES_LOCK } from "../../checks/policies/counts.ts";
import { shownTargets, type TargetLabel, targetLists } from "../../hosts/labels/targeting.ts";
import { recordActivity } from "../../platform/activities/record.ts";
import type { Context } from "../../platform/core/context.ts";
import { alreadyExists, conflict } from "../../platform/core/errors.ts";
import { extensionPoint } from "../../platform/core/extensions.ts";
import { inTeam } from "../../platform/core/security/access.ts";
import { and, eq } from "../../platform/store/query.ts";
import { UniqueViolation } from "../../platform/store/store.ts";
import type { InsertOf } from "../../platform/store/table.ts";
import type { TeamScope } from "../../settings/teams/access.ts";
import { namedCategories } from "../self-service/categories.ts";
import { dropIconOf, iconUrlOf } from "../self-service/icon-rows.ts";
import { type TitleIdentity, titleIdFor } from "../software/titles/titles.ts";
import { type Installer, installerOfTitle, labelsOfInstallers } from "./hosts.ts";
import type { softwareInstallers } from "./tables.ts";

/** Serializes changes of what teams offer with those of policies, which install it: what was just named is not removed. */
export const POLICY_LOCK_OPTIONS = { lock: POLICIES_LOCK } as const;

/** What was read from the file. */
export interface ReadInstaller
  extends Pick<
    Installer,
    "kind" | "platform" | "version" | "package_ids" | "bundle_identifier" | "upgrade_code" | "installs_app"
  > {
  readonly title: TitleIdentity;
}

export interface InstallerFile {
  /** Id of the row in `files`. */
  readonly id: number;
  readonly name: string;
  readonly size: number;
  readonly sha256: string;
}

/** What users choose. */
export type InstallerChoices = Pick<
  InsertOf<typeof softwareInstallers>,
  | PackageText
  | keyof typeof packageFields
  | "categories"
  | "catalogue_app_id"
  | "pinned_version"
  | "install_during_setup"
  | "setup_positions"
  | "url"
>;

interface NewInstaller {
  readonly team: TeamScope;
  readonly file: InstallerFile;
  readonly read: ReadInstaller;
  readonly choices: InstallerChoices;
  readonly labels: readonly TargetLabel[];
}

/** What changes concern others, who act on them in the same transaction. */
export interface InstallerListener {
  /** `newFile`: hosts that have installed it have another file. `onlyShown`: what is installed stays the same. */
  changed(inside: Context, installer: Installer, change: { newFile: boolean; onlyShown: boolean }): Promise<void>;
  /** Called before the row is deleted. May refuse. */
  removed(inside: Context, installer: Installer): Promise<void>;
}

export const installerListeners = extensionPoint<InstallerListener>("what follows packages");

const columnsOf = ({ title: _, ...columns }: ReadInstaller) => columns;
const fileColumns = (ctx: Context, { id, name, size, sha256 }: InstallerFile) => ({
  file_id: id,
  file_name: name,
  size,
  sha256,
  uploaded_at: ctx.clock.iso(),
});

/** Runs in the caller's transaction (`changingPackages`). 409 if the team offers something for the title already. */
export async function createInstaller(inside: Context, input: NewInstaller): Promise<Installer> {
  const { store } = inside;
  const { team, file, read, choices, labels } = input;
  const title_id = await titleIdFor(store, read.title);
  if ((await installerOfTitle(store, team.team_id, title_id)) !== null) throw hasOne(read.title.name, team);
  const isApp = and(inTeam(team.team_id ?? 0), eq("title_id", title_id));
  if ((await store.storeApps.first({ where: isApp })) !== null) throw hasOne(read.title.name, team);
  const categories = await namedCategories(inside, team.team_id, choices.categories ?? []);
  const row = {
    team_id: team.team_id,
    title_id,
    ...columnsOf(read),
    ...fileColumns(inside, file),
    ...choices,
    categories,
  };
  let installer: Installer;
  try {
    installer = await store.softwareInstallers.insert(row);
  } catch (error) {
    throw error instanceof UniqueViolation ? hasOne(read.title.name, team) : error;
  }
  await writeLabels(inside, installer.id, labels);
  const { software_icon_url: _, software_display_name: __, ...details } = await detailsOf(inside, installer, team);
  await recordActivity(inside, "added_software", details);
  return installer;
}

const hasOne = (title: string, { team_name }: TeamScope) =>
  alreadyExists(
    `${team_name === null ? "hosts without a team have" : `the team ${team_name} has`} a package or app of ` +
      `${JSON.stringify(title)} already: change that one, or delete it first`,
  );

export interface InstallerChanges {
  readonly file?: InstallerFile;
  /** What was read from the new file. */
  readonly read?: ReadInstaller;
  readonly choices: Partial<InstallerChoices>;
  /** Null: they stay. */
  readonly labels: readonly TargetLabel[] | null;
}

const SHOWN_FIELDS = ["self_service", "categories", "display_name"];

/** Runs in the caller's transaction (`changingPackages`). Without a difference, nothing is written and recorded. */
export async function updateInstaller(
  inside: Context,
  before: Installer,
  team: TeamScope,
  changes: InstallerChanges,
): Promise<Installer> {
  const { store } = inside;
  const newFile = changes.file !== undefined && changes.file.sha256 !== before.sha256;
  const desired = {
    ...(changes.read === undefined ? {} : columnsOf(changes.read)),
    ...(changes.file === undefined ? {} : { ...fileColumns(inside, changes.file) }),
    ...changes.choices,
    ...(changes.choices.categories === undefined
      ? {}
      : { categories: await namedCategories(inside, team.team_id, changes.choices.categories) }),
  };
  if (!newFile) delete desired.uploaded_at;
  const isSame = (name: string, value: unknown) =>
    JSON.stringify(before[name as keyof Installer]) === JSON.stringify(value);
  const set = Object.fromEntries(
    Object.entries(desired).filter(([name, value]) => value !== undefined && !isSame(name, value)),
  ) as Partial<Installer>;
  const labels = changes.labels !== null && (await hasOtherLabels(inside, before.id, changes.labels));
  const names = Object.keys(set);
  if (names.length === 0 && !labels) return before;
  if (names.length > 0) await store.softwareInstallers.update({ where: eq("id", before.id), set });
  if (labels) {
    await store.installerLabels.delete(eq("installer_id", before.id));
    await writeLabels(inside, before.id, changes.labels);
  }
  const installer = (await store.softwareInstallers.get(before.id))!;
  const onlyShown = !labels && names.every((name) => SHOWN_FIELDS.includes(name));
  for (const listener of inside.extensions.of(installerListeners))
    await listener.changed(inside, installer, { newFile, onlyShown });
  await recordActivity(inside, "edited_software", await detailsOf(inside, installer, team));
  return installer;
}

/** 409: what hosts install while they are set up cannot be deleted. */
export const installedDuringSetup = (what: "package" | "app") =>
  conflict(`hosts install the ${what} during their setup: leave it out there first`);

/** Runs in the caller's transaction (`changingPackages`). Hosts keep what they have installed. */
export async function deleteInstaller(inside: Context, installer: Installer, team: TeamScope): Promise<void> {
  for (const listener of inside.extensions.of(installerListeners)) await listener.removed(inside, installer);
  const { software_title_id: _, software_display_name: __, ...details } = await detailsOf(inside, installer, team);
  await inside.store.softwareInstallers.delete(eq("id", installer.id));
  await dropIconOf(inside.store, team.team_id, installer.title_id);
  await recordActivity(inside, "deleted_software", details);
}

async function writeLabels({ store }: Context, installer_id: number, labels: readonly TargetLabel[]): Promise<void> {
  if (labels.length > 0) await store.installerLabels.insertMany(labels.map((label) => ({ installer_id, ...label })));
}

async function hasOtherLabels({ store }: Context, id: number, desired: readonly TargetLabel[]): Promise<boolean> {
  const stored = (await labelsOfInstallers(store, [id])).get(id) ?? [];
  const keys = (list: readonly { label_id: number | null; rule: string }[]) =>
    list
      .map(({ label_id, rule }) => `${rule} ${label_id}`)
      .sort()
      .join();
  return keys(stored) !== keys(desired);
}

export async function detailsOf({ store }: Context, installer: Installer, { team_id, team_name }: TeamScope) {
  const labels = (await labelsOfInstallers(store, [installer.id])).get(installer.id) ?? [];
  const title = await store.softwareTitles.get(installer.title_id);
  return {
    software_title: title?.name ?? "",
    software_title_id: installer.title_id,
    software_package: installer.file_name,
    team_id,
    team_name,
    self_service: installer.self_service,
    software_icon_url: await iconUrlOf(store, team_id, installer.title_id),
    software_display_name: installer.display_name,
    ...targetLists(labels, await shownTargets(store, labels)),
  };
}
