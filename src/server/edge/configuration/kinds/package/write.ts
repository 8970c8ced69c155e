// Writes packages through the services of their feature.
import { fieldNames, pick } from "../../../../../api/plain-fields.ts";
import { NO_TEAM_NAME } from "../../../../../api/settings/no-team.ts";
import { type PackageText, packageFields, packageTexts } from "../../../../../api/software/packages.ts";
import { resolveKept, type TargetLabel } from "../../../../hosts/labels/targeting.ts";
import type { Context } from "../../../../platform/core/context.ts";
import { conflict, invalid } from "../../../../platform/core/errors.ts";
import type { TeamScope } from "../../../../settings/teams/access.ts";
import { keepDefaults } from "../../../../software/catalogue/add.ts";
import { type Installer, installerOfTitle, labelsOfInstallers } from "../../../../software/installers/hosts.ts";
import { textsFor } from "../../../../software/installers/packages.ts";
import { checkPackageQuotas, type PackageSizes, packageSizes } from "../../../../software/installers/quotas.ts";
import { checkScriptVariables } from "../../../../software/installers/scripts.ts";
import {
  createInstaller,
  deleteInstaller,
  type InstallerChoices,
  updateInstaller,
} from "../../../../software/installers/service.ts";
import { isForSetupOf } from "../../../../software/installers/setup.ts";
import { policiesThatInstall } from "../../../../software/installers/wire.ts";
import type { ResolvedPackage } from "../../../../software/package-batches/find.ts";
import { LAST_IN_SETUP } from "../../../../software/software/setup-order.ts";
import { titleIdFor } from "../../../../software/software/titles/titles.ts";
import { locating, type RequestedChange, type Step } from "../../changes.ts";
import type { Part } from "../../kind.ts";
import { keyOf } from "../../values.ts";
import { count, differs, type Work } from "../../work.ts";
import { recordIcon, writeIcon } from "../title-icons.ts";
import type { PackagesByIndex } from "./find.ts";
import {
  chosenPlatforms,
  digestOf,
  KIND,
  type PackageEntry,
  type PackageRows,
  packagesByKey,
  placeOf,
} from "./rows.ts";
import { type DesiredPackage, platformsIn } from "./value.ts";

type PackagePart = Part<PackageRows, DesiredPackage, PackagesByIndex>;

const scopeOf = ({ teams }: Work, owner: string | null): TeamScope =>
  owner === null || owner === NO_TEAM_NAME
    ? { team_id: null, team_name: null }
    : { team_id: teams.get(owner)!.id, team_name: owner };

/** A package that no object has any more after an apply, with the change that caused it. */
type LeftPackage = { readonly entry: PackageEntry; readonly by: RequestedChange };

interface StoredPackages {
  readonly leftPackages: readonly LeftPackage[];
  readonly sizes: PackageSizes;
}

const stays = ({ leaving }: Work, { owner }: RequestedChange): boolean => owner === null || !leaving.has(owner);

/** A file of another title takes the place of the package: hosts keep what they have installed. */
export async function writePackages(work: Work, { rows, steps, gone, prepared }: PackagePart): Promise<void> {
  const changed = steps.filter((step) => differs(work, step, step.desired.value));
  const entriesByKey = packagesByKey(rows, work.shared);
  const sizes = await packageSizes(work.ctx);
  // Packages of deleted teams are deleted together with the team.
  const giving = [...changed, ...gone.filter((change) => stays(work, change))].flatMap((by) => {
    const entry = entriesByKey.get(keyOf(by));
    return entry ? [{ entry, by }] : [];
  });
  const titles = new Titles(rows, giving);
  for (const step of changed) {
    const source = prepared.get(step.index) ?? null;
    await locating(step, async () => {
      const stored = await storedLabels(work, entriesByKey.get(keyOf(step)));
      const labels = await resolveKept(work.ctx, step.desired.value, "software", stored);
      const team = scopeOf(work, step.owner);
      if (source === null) return titles.unknown(team);
      const title_id = await titleIdFor(work.ctx.store, source.read.title);
      titles.claimTitle({ team_id: team.team_id, title_id }, step.name);
      await write(work.ctx, { step, source, labels, team, title_id });
    });
  }
  const leftPackages: readonly LeftPackage[] = giving.filter(({ entry }) => titles.isLeft(entry));
  work.kept.set(KIND, { leftPackages, sizes } satisfies StoredPackages);
  count(work, changed);
}

async function storedLabels(work: Work, entry: PackageEntry | undefined): Promise<readonly TargetLabel[]> {
  if (entry === undefined) return [];
  return (await labelsOfInstallers(work.ctx.store, [entry.id])).get(entry.id) ?? [];
}

/** The package that has a title in a team, while the changes of one apply take and give titles. */
class Titles {
  readonly #taken = new Map<string, string>();
  /** Titles of packages that do not change. */
  readonly #fixed: ReadonlyMap<string, PackageEntry>;
  readonly #open = new Set<number>();

  constructor({ packages }: PackageRows, giving: readonly { readonly entry: PackageEntry }[]) {
    const changing = new Set(giving.map(({ entry }) => entry.id));
    this.#fixed = new Map(packages.filter(({ id }) => !changing.has(id)).map((entry) => [placeOf(entry), entry]));
  }

  claimTitle(place: Pick<Installer, "team_id" | "title_id">, name: string): void {
    const key = placeOf(place);
    const other = this.#taken.get(key) ?? this.#fixed.get(key)?.file_name;
    if (other !== undefined) throw invalid("value", `is of the same software title as the package ${other}`);
    this.#taken.set(key, name);
  }

  /** In a dry run, a file that was not downloaded may be of any title. */
  unknown({ team_id }: TeamScope): void {
    this.#open.add(team_id ?? 0);
  }

  isLeft(entry: PackageEntry): boolean {
    return !this.#taken.has(placeOf(entry)) && !this.#open.has(entry.team_id ?? 0);
  }
}

interface Writing {
  readonly step: Step<DesiredPackage>;
  readonly source: ResolvedPackage;
  readonly labels: readonly TargetLabel[];
  readonly team: TeamScope;
  readonly title_id: number;
}

async function write(ctx: Context, { step, source, labels, team, title_id }: Writing): Promise<void> {
  const { store } = ctx;
  const { value } = step.desired;
  const { read, scripts, file, url, app_id, categories } = source;
  const before = await installerOfTitle(store, team.team_id, title_id);
  const texts = textsFor({ read, scripts }, textsOf(step.desired, before));
  await checkScriptVariables(store, texts, team.team_id);
  const choices: InstallerChoices = {
    ...texts,
    url,
    ...pick(value, fieldNames(packageFields)),
    display_name: value.display_name.trim(),
    categories: value.default_categories ? categories : value.categories,
    catalogue_app_id: app_id,
    pinned_version: value.version,
    ...setupOf(step.desired, source, before),
  };
  const input = { file, read, choices, labels };
  const hasOtherIcon = await writeIcon(ctx, team, title_id, step.desired);
  const row = before ? await updateInstaller(ctx, before, team, input) : await createInstaller(ctx, { team, ...input });
  if (hasOtherIcon && row === before) await recordIcon(ctx, team, title_id);
  if (app_id !== null && value.slug !== "")
    await keepDefaults(store, row.id, { install_script: scripts.install, uninstall_script: scripts.uninstall });
}

/** The new texts, and stored ones that the value still names. Absent: the default of the package. */
function textsOf({ value, texts }: DesiredPackage, before: Installer | null) {
  const all: { [F in PackageText]?: string } = {};
  for (const field of packageTexts) {
    if (value[field] === "") continue;
    const text = texts[field] ?? (before && digestOf(before[field]) === value[field] ? before[field] : undefined);
    if (text === undefined) throw invalid(field, "the request does not contain the file with this digest");
    all[field] = text;
  }
  return all;
}

/** The order in which hosts install software is an object of its own, which is written later: until then it stays. */
function setupOf(
  { value }: DesiredPackage,
  { read }: ResolvedPackage,
  before: Installer | null,
): Partial<InstallerChoices> {
  if (!value.setup_experience) return { install_during_setup: false, setup_positions: {} };
  const platforms = platformsIn(value);
  if (read.platform === "ios")
    throw invalid("setup_experience", "iPhones and iPads install no packages during their setup");
  const wrong = platforms.find((platform) => !isForSetupOf(read, platform));
  if (wrong !== undefined) throw invalid("setup_experience_platform", `hosts of ${wrong} cannot install the package`);
  if (before?.install_during_setup && chosenPlatforms(before) === value.setup_experience_platform) return {};
  const setup_positions = Object.fromEntries(
    platforms.map((platform) => [platform, before?.setup_positions[platform] ?? LAST_IN_SETUP]),
  );
  return { install_during_setup: true, setup_positions };
}

/** After policies have been written, which may install a package that is deleted no more. */
export async function deletePackages(work: Work, { gone }: PackagePart): Promise<void> {
  const { ctx } = work;
  const { leftPackages, sizes } = work.kept.get(KIND) as StoredPackages;
  for (const { entry, by } of leftPackages)
    await locating(by, async () => {
      const row = await ctx.store.softwareInstallers.get(entry.id);
      if (row === null) return;
      const [policy] = await policiesThatInstall(ctx.store, row);
      if (policy) throw conflict(`the policy ${JSON.stringify(policy.name)} installs the package ${row.file_name}`);
      await deleteInstaller(ctx, row, scopeOf(work, by.owner));
    });
  await checkPackageQuotas(ctx, sizes);
  count(work, gone);
}
