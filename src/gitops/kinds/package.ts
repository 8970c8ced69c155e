// Packages and maintained apps that teams offer to their hosts.
import { fallbacksOf, fieldNames, pick, recordOf } from "../../api/plain-fields.ts";
import { type PackageText, packageFields, packageTexts } from "../../api/software/packages.ts";
import { isSame, type Json } from "../../text/differences.ts";
import type { Current } from "../desired/current.ts";
import { changed, type Fields, fieldsOf, pick as pickFields } from "../export/fields.ts";
import { FileNames, fileName } from "../export/names.ts";
import type { ExportedSections, ExportScope } from "../export/scope.ts";
import type { PlacedItem } from "../files/collect.ts";
import { textOfBytes } from "../files/item-files.ts";
import { isOffered } from "../plan/activities.ts";
import type { Thing } from "../plan/diff.ts";
import { MaintainedAppFile, PackageFile } from "../schema/software.ts";
import type { Download, Kind } from "./kind.ts";
import { inSetupOrder } from "./setup/order.ts";

const KIND = "package";

const plainNames = fieldNames(packageFields);
type Texts = { readonly [K in PackageText]?: string };

type Common = Pick<PackageFile, keyof typeof packageFields | "setup_experience"> &
  Pick<PackageFile, "labels_include_all" | "labels_include_any" | "labels_exclude_any">;

/** An item of one of the two lists. */
export type Package = Common &
  Texts & {
    readonly name: string;
    readonly sha256: string;
    /** Null: those of the catalogue. */
    readonly categories: readonly string[] | null;
    readonly slug?: string;
    readonly version?: string;
    readonly url?: string | null;
    readonly always_download?: boolean;
    /** The digest of the image. */
    readonly icon?: string;
    readonly setup_experience_platform?: string;
    /** The file that it is in, or that it is. */
    readonly from?: string;
    readonly isScript?: boolean;
  };

const words = (text: unknown): string => (typeof text === "string" ? text.trim() : "");

function desired(packages: readonly PlacedItem<Package>[], current: Current): Thing[] {
  return packages.map(({ value: software, owner }) => {
    const before = fieldsOf(current.value(KIND, owner, software.name));
    // The server knows which categories the catalogue has, and which platform a package is for.
    const isDefault = software.slug !== undefined && software.categories === null;
    const wereDefault = before.default_categories === true;
    const wasSame = wereDefault && isSame(before.categories, software.categories);
    const value: Fields = {
      slug: software.slug ?? "",
      version: software.version ?? "",
      url: software.url ?? "",
      sha256: software.sha256,
      ...recordOf(packageTexts, (key) => software[key] ?? ""),
      ...pick(software, plainNames),
      categories: isDefault && wereDefault ? before.categories! : (software.categories ?? []),
      default_categories: isDefault || wasSame,
      icon: software.icon ?? "",
      setup_experience: software.setup_experience,
      setup_experience_platform:
        software.setup_experience_platform ||
        (software.setup_experience ? words(before.setup_experience_platform) : ""),
      labels_include_all: software.labels_include_all,
      labels_include_any: software.labels_include_any,
      labels_exclude_any: software.labels_exclude_any,
      ...(software.always_download ? { always_download: true } : {}),
    };
    return { kind: KIND, owner, name: software.name, value };
  });
}

/** Without a digest in the files, the server asks at each apply whether the URL has another file. */
function download(value: Json, before: Json | undefined): Download | null {
  const { slug, version, url, sha256, always_download } = fieldsOf(value);
  const now = fieldsOf(before);
  if (typeof slug === "string" && slug !== "")
    return before !== undefined && now.version === version
      ? null
      : { slug, ...(version ? { version: words(version) } : {}) };
  if (typeof url !== "string" || url === "") return null;
  if (sha256 === "") return { url, ...(always_download === true ? { always_download } : {}) };
  return now.sha256 === sha256 ? null : { url, hash_sha256: words(sha256) };
}

/** How the file is downloaded is not a part of what the server stores. */
function withFile(value: Json, sha256: string | null, before: Json | undefined): Json {
  const { always_download: _, ...fields } = fieldsOf(value);
  if (fields.slug !== "" || fields.sha256 !== "") return fields;
  return { ...fields, sha256: sha256 ?? words(fieldsOf(before).sha256) };
}

/** Extensions of exported texts that are no scripts. */
const extensions: { readonly [K in PackageText]?: string } = { pre_install_query: ".sql", configuration: ".plist" };

const noLabels = { labels_include_all: [], labels_include_any: [], labels_exclude_any: [] };
const defaults = {
  ...fallbacksOf(packageFields),
  setup_experience: false,
  setup_experience_platform: "",
  ...noLabels,
};

const isText = (key: string): boolean => (packageTexts as readonly string[]).includes(key);

function exported(scope: ExportScope): ExportedSections {
  const names = new FileNames();
  const packages: Fields[] = [];
  const apps: Fields[] = [];
  for (const { name, value } of inSetupOrder(scope, KIND)) {
    const fields = fieldsOf(value);
    const { slug, version, url, sha256, categories, default_categories, icon, ...rest } = fields;
    const plain = pickFields(rest, (key) => !isText(key));
    const isWindows = /\.(msi|exe|ps1)$|\/windows$/i.test(name.replace(/[?#].*$/, ""));
    const file = names.of(slug ? name : name.split("/").at(-1) || name);
    const installerFields = {
      ...Object.fromEntries(
        packageTexts.flatMap((key) => {
          const digest = rest[key] ?? "";
          if (digest === "") return [];
          const extension = extensions[key] ?? (isWindows ? ".ps1" : ".sh");
          return [[key, { path: write(scope, `${file}-${key.replaceAll("_", "-")}${extension}`, String(digest)) }]];
        }),
      ),
      ...(icon ? { icon: { path: write(scope, `${file}.png`, String(icon)) } } : {}),
      ...changed(plain, defaults),
    };
    if (slug) {
      const pinned: Fields = version ? { version } : {};
      const named: Fields = default_categories === true ? {} : { categories: categories ?? [] };
      apps.push({ slug, ...pinned, ...installerFields, ...named });
      continue;
    }
    const named: Fields = Array.isArray(categories) && categories.length > 0 ? { categories } : {};
    const isScript = url === "" && sha256 !== name;
    const origin: Fields = isScript
      ? { path: write(scope, `scripts/${fileName(name)}`, String(sha256)) }
      : { ...(url ? { url } : {}), hash_sha256: sha256! };
    packages.push({ ...origin, ...installerFields, ...named });
  }
  const lists = {
    ...(packages.length > 0 ? { packages } : {}),
    ...(apps.length > 0 ? { svc_maintained_apps: apps } : {}),
  };
  return Object.keys(lists).length > 0 ? { software: lists } : {};
}

/** Writes a file beside the main file. Returns its path for the main file. */
export function write(
  { stem, objects, addFile, addHostFile, addContent }: ExportScope,
  file: string,
  digest: string,
): string {
  const content = objects.content(digest);
  const text = textOfBytes(content);
  const path = `${stem}.software/${file}`;
  if (text === null) addContent(`lib/${path}`, content);
  else if (path.endsWith(".sql")) addFile(`lib/${path}`, text);
  else addHostFile(`lib/${path}`, text);
  return `../lib/${path}`;
}

export const packageKind: Kind<Package> = {
  noun: "package",
  exception: "software",
  items: {
    list: "packages",
    software: [
      {
        key: "packages",
        schema: PackageFile,
        hasPaths: true,
        nameOf: ({ url, hash_sha256 }) => words(url) || words(hash_sha256),
        of: ({ hash_sha256 }) => ({ sha256: words(hash_sha256) }),
      },
      {
        key: "svc_maintained_apps",
        schema: MaintainedAppFile,
        nameOf: ({ slug }) => words(slug),
        of: () => ({}),
      },
    ],
    // Files that items name are read apart: values have their digests.
    schema: PackageFile as unknown as Items["schema"],
    sql: ({ pre_install_query: digest }, contents) => ({ pre_install_query: contents.get(String(digest))?.toString() }),
    labelFields: Object.keys(noLabels),
    defaults,
    desired,
  },
  download,
  withFile,
  exported: (scope) => (scope.file === "global" ? {} : exported(scope)),
  typesOf: () => ["added_software", "edited_software", "deleted_software"],
  isAbout: (details, _, { owner }) => isOffered(details, owner),
};
type Items = NonNullable<Kind<Package>["items"]>;
