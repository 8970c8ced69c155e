// The packages of teams, as objects of the configuration.

import { createHash } from "node:crypto";
import type { ScopeLabel } from "../../../../../api/hosts/label-scope.ts";
import { fieldNames, pick, recordOf } from "../../../../../api/plain-fields.ts";
import { NO_TEAM_NAME } from "../../../../../api/settings/no-team.ts";
import { type PackageText, packageFields, packageTexts } from "../../../../../api/software/packages.ts";
import { isDefaultScript } from "../../../../../packages/default-scripts.ts";
import { configuredName, shownTargets, targetLists } from "../../../../hosts/labels/targeting.ts";
import type { Context } from "../../../../platform/core/context.ts";
import { byId } from "../../../../platform/core/maps.ts";
import type { ServerTx } from "../../../../platform/core/tables.ts";
import { startOf } from "../../../../platform/files/service.ts";
import { everything, nothing, oneOf, type Predicate } from "../../../../platform/store/query.ts";
import type { RowOf } from "../../../../platform/store/table.ts";
import type { catalogueApps, catalogueOffers } from "../../../../software/catalogue/tables.ts";
import { type Installer, labelsOfInstallers } from "../../../../software/installers/hosts.ts";
import { isScript } from "../../../../software/installers/scripts.ts";
import { ofTier, ownersOf, type SharedRows } from "../../shared-rows.ts";
import { type Contents, keyOf, type Thing } from "../../values.ts";
import { iconContents, iconDigests } from "../title-icons.ts";
import type { PackageValue } from "./value.ts";

export const KIND = "package";

/** Characters of names in the API of the configuration. */
const NAME_MAX = 1024;
const plainNames = fieldNames(packageFields);
/** Packages have scripts, so few of them are read at once. */
const BATCH_SIZE = 50;

export const digestOf = (text: string | Uint8Array): string =>
  text.length === 0 ? "" : createHash("sha256").update(text).digest("hex");

type Identity = Pick<
  Installer,
  "id" | "team_id" | "title_id" | "url" | "sha256" | "file_name" | "kind" | "catalogue_app_id"
>;
const identity = ["id", "team_id", "title_id", "url", "sha256", "file_name", "kind", "catalogue_app_id"] as const;

const isName = (url: string): boolean => url !== "" && url.length <= NAME_MAX;

/**
 * What files call packages: the slug of a maintained app, the URL, the name of a script, or else the digest. Null: another
 * package of the team has the same name, so that files cannot express this one. By id.
 */
async function namesOf(store: ServerTx, rows: readonly Identity[]): Promise<ReadonlyMap<number, string | null>> {
  const apps = await store.catalogueApps.pick(["id", "slug"], {
    where: oneOf("id", [...new Set(rows.flatMap((row) => row.catalogue_app_id ?? []))]),
  });
  const slugs = new Map(apps.map(({ id, slug }) => [id, slug]));
  const takenNames = new Set<string>();
  const names = new Map<number, string | null>();
  for (const row of rows.toSorted((a, b) => a.id - b.id)) {
    const identity = isScript(row.kind) ? row.file_name : row.sha256;
    const slug = slugs.get(row.catalogue_app_id ?? 0);
    const name =
      [slug ?? (isName(row.url) ? row.url : identity), row.sha256].find(
        (candidate) => !takenNames.has(`${row.team_id} ${candidate}`),
      ) ?? null;
    names.set(row.id, name);
    takenNames.add(`${row.team_id} ${name}`);
  }
  return names;
}

/** The names of these packages, by their team and title (`placeOf`). */
export async function packageNames(
  store: ServerTx,
  where: Predicate = everything,
): Promise<ReadonlyMap<string, string>> {
  const rows = await store.softwareInstallers.pick([...identity], { where });
  const names = await namesOf(store, rows);
  return new Map(rows.flatMap((row) => (names.get(row.id) ? [[placeOf(row), names.get(row.id)!] as const] : [])));
}

export const placeOf = ({ team_id, title_id }: Pick<Installer, "team_id" | "title_id">): string =>
  `${team_id ?? 0} ${title_id}`;

/** Without the texts, which may be large. */
export interface PackageEntry extends Identity {
  /** Null: files cannot express it. */
  readonly name: string | null;
  readonly value: PackageValue;
}

export interface PackageRows {
  readonly packages: readonly PackageEntry[];
}

const whereOf = (ctx: Context): Predicate => ofTier(ctx, "packages:write", nothing);

export async function readPackages(ctx: Context): Promise<PackageRows> {
  const { store } = ctx;
  const where = whereOf(ctx);
  const names = await namesOf(store, await store.softwareInstallers.pick([...identity], { where }));
  const packages: PackageEntry[] = [];
  for await (const page of store.softwareInstallers.pages({ where }, BATCH_SIZE))
    packages.push(...(await entriesOf(ctx, page, names)));
  return { packages };
}

async function entriesOf(
  { store }: Context,
  rows: readonly Installer[],
  names: ReadonlyMap<number, string | null>,
): Promise<PackageEntry[]> {
  const ids = rows.map(({ id }) => id);
  const labels = await labelsOfInstallers(store, ids);
  const show = await shownTargets(store, [...labels.values()].flat());
  const titles = byId(await store.softwareTitles.getMany(rows.map(({ title_id }) => title_id)));
  const offers = byId(await store.catalogueOffers.getMany(ids));
  const iconOf = await iconDigests(store);
  const apps = byId(await store.catalogueApps.getMany(rows.flatMap((row) => row.catalogue_app_id ?? [])));
  return rows.map((row): PackageEntry => {
    const name = names.get(row.id) ?? null;
    const value = packageValue(row, {
      name,
      app: apps.get(row.catalogue_app_id ?? 0),
      offer: offers.get(row.id),
      title: titles.get(row.title_id)?.name ?? "",
      icon: iconOf(row),
      labels: targetLists(labels.get(row.id) ?? [], show),
    });
    const { id, team_id, title_id, url, sha256, file_name, kind, catalogue_app_id } = row;
    return { id, team_id, title_id, url, sha256, file_name, kind, catalogue_app_id, name, value };
  });
}

interface PackageParts {
  readonly name: string | null;
  readonly app: RowOf<typeof catalogueApps> | undefined;
  /** The scripts that the catalogue has offered for the package. */
  readonly offer: RowOf<typeof catalogueOffers> | undefined;
  readonly title: string;
  readonly icon: string;
  readonly labels: ReturnType<typeof targetLists>;
}

function packageValue(row: Installer, { name, app, offer, title, icon, labels }: PackageParts): PackageValue {
  const version = app?.manifest.versions.find(({ sha256 }) => sha256 === row.sha256) ?? app?.manifest.versions[0];
  const hasDefaultCategories =
    app !== undefined && JSON.stringify(row.categories) === JSON.stringify(version?.default_categories);
  return {
    slug: app?.slug ?? "",
    version: row.pinned_version,
    url: app || name !== row.url ? "" : row.url,
    sha256: app ? "" : row.sha256,
    ...recordOf(packageTexts, (field) => (hasDefault(row, field, title, offer) ? "" : digestOf(row[field]))),
    ...pick(row, plainNames),
    categories: [...row.categories],
    default_categories: hasDefaultCategories,
    icon,
    setup_experience: row.install_during_setup,
    setup_experience_platform: chosenPlatforms(row),
    labels_include_all: labelNames(labels.labels_include_all),
    labels_include_any: labelNames(labels.labels_include_any),
    labels_exclude_any: labelNames(labels.labels_exclude_any),
  };
}

const labelNames = (labels: readonly ScopeLabel[] | undefined): string[] => (labels ?? []).map(configuredName).sort();

function hasDefault(row: Installer, field: PackageText, title: string, offer: PackageParts["offer"]): boolean {
  if (field !== "install_script" && field !== "uninstall_script") return false;
  const which = field === "install_script" ? "install" : "uninstall";
  const text = row[field];
  if (offer) return offer[`${which}_sha256`] === digestOf(text);
  const { kind } = row;
  if (kind === "dmg" || kind === "zip") return false;
  if (isScript(kind) && which === "install") return true;
  return isDefaultScript({ ...infoOf(row), kind, name: title }, which, text);
}

/** Empty: its own platform only. */
export function chosenPlatforms({ install_during_setup, setup_positions, platform }: ChosenRow): string {
  const platforms = install_during_setup ? Object.keys(setup_positions).sort().join(",") : "";
  return platforms === platform ? "" : platforms;
}

type ChosenRow = Pick<Installer, "install_during_setup" | "setup_positions" | "platform">;

const infoOf = (row: Installer) => ({
  platform: row.platform,
  version: row.version,
  source: "",
  bundleIdentifier: row.bundle_identifier,
  packageIds: row.package_ids,
  upgradeCode: row.upgrade_code,
  installsApp: row.installs_app === true,
});

/** The packages that files can express, by the keys of their objects. */
export function packagesByKey({ packages }: PackageRows, shared: SharedRows): ReadonlyMap<string, PackageEntry> {
  const ownerOf = ownersOf(shared);
  return new Map(
    packages.flatMap((entry) => {
      const owner = ownerOf(entry);
      return owner === undefined || entry.name === null
        ? []
        : [[keyOf({ kind: KIND, owner: owner ?? NO_TEAM_NAME, name: entry.name }), entry] as const];
    }),
  );
}

export function* packageThings(rows: PackageRows, shared: SharedRows): Generator<Thing> {
  for (const [key, { value, sha256, file_name }] of packagesByKey(rows, shared)) {
    const [kind, owner, name] = JSON.parse(key) as [string, string, string];
    yield { kind, owner, name, ...(name === sha256 ? { title: file_name } : {}), value };
  }
}

/** The texts and icons of packages, and scripts that are packages themselves: other files are too large. */
export async function packageContents(ctx: Context, { packages }: PackageRows): Promise<Contents> {
  const contents = await iconContents(
    ctx,
    packages.map(({ value }) => value.icon),
  );
  const add = (content: Buffer) => void contents.set(digestOf(content), content);
  const pages = ctx.store.softwareInstallers.pages({ where: whereOf(ctx) }, BATCH_SIZE);
  for await (const rows of pages)
    for (const row of rows) {
      for (const field of packageTexts) if (row[field] !== "") add(Buffer.from(row[field]));
      if (isScript(row.kind) && row.url === "") add(await startOf(ctx, row.file_id, row.size));
    }
  return contents;
}
