// Installer packages of macOS: xar archives with a Distribution, or with the PackageInfo of a single component.
import { decodeXml } from "../xml/decode.ts";
import { childrenOf, everyElement, parseXml, type XmlElement } from "../xml/xml.ts";
import { cleanText, guarded, PackageError, type PackageFile, type PackageInfo, plainName } from "./package.ts";
import { contentOf, nameOf, openXar, type Xar } from "./xar.ts";

const MAX_ELEMENTS = 100_000;
const IDS_MAX = 100;

interface Bundle {
  readonly id: string;
  readonly path: string;
  readonly version: string;
}

export async function readPkg(file: PackageFile): Promise<PackageInfo> {
  const archive = await openXar(file);
  const distribution = await documentIn(file, archive, archive.toc, "Distribution");
  const components = await componentsOf(file, archive, distribution === null);
  if (distribution === null && components.length === 0)
    throw new PackageError("is not a package: it has neither a Distribution nor a PackageInfo");
  const documents = [...(distribution === null ? [] : [distribution]), ...components];
  const elements = documents.flatMap((document) => [...everyElement(document)]);
  const packages = elements.flatMap((element) => packageOf(element));
  const ids = [...new Set(packages.map(({ id }) => id))].slice(0, IDS_MAX);
  const app = appOf(elements.flatMap(bundleOf), ids);
  const product = elements.find(({ name }) => name === "product");
  const [first] = packages.filter(({ version }) => version !== "");
  const title = cleanText((distribution && childrenOf(distribution, "", "title")[0]?.text) ?? "");
  return {
    kind: "pkg",
    platform: "darwin",
    name: (app && appName(app.path)) || (isPlain(title) ? title : "") || plainName(file.name, "pkg"),
    version: cleanText(app?.version || product?.attributes.get("version") || first?.version || ""),
    source: "apps",
    bundleIdentifier: cleanText(app?.id || product?.attributes.get("id") || ids[0] || ""),
    packageIds: ids,
    upgradeCode: "",
    installsApp: app !== null,
  };
}

/** A title may be the key of a translation. */
const isPlain = (title: string): boolean => title !== "" && !/^[A-Z0-9_]+$/.test(title) && !title.includes("%");

async function documentIn(file: PackageFile, archive: Xar, folder: XmlElement, name: string) {
  const entry = childrenOf(folder, "", "file").find((candidate) => nameOf(candidate) === name);
  if (!entry) return null;
  const content = await contentOf(file, archive, entry);
  return guarded(() => parseXml(decodeXml(content), { most: MAX_ELEMENTS, lenient: true }));
}

/** The PackageInfo of the archive itself, or of its components: for the bundles that a Distribution may leave out. */
async function componentsOf(file: PackageFile, archive: Xar, isSingle: boolean): Promise<XmlElement[]> {
  const folders = isSingle
    ? [archive.toc]
    : childrenOf(archive.toc, "", "file")
        .filter((file) => nameOf(file).endsWith(".pkg"))
        .slice(0, IDS_MAX);
  const documents: XmlElement[] = [];
  for (const folder of folders) {
    const document = await documentIn(file, archive, folder, "PackageInfo");
    if (document) documents.push(document);
  }
  return documents;
}

function packageOf({ name, attributes }: XmlElement): { id: string; version: string }[] {
  const id = name === "pkg-ref" ? attributes.get("id") : name === "pkg-info" ? attributes.get("identifier") : undefined;
  return id ? [{ id: cleanText(id), version: attributes.get("version") ?? "" }] : [];
}

function bundleOf({ name, attributes }: XmlElement): Bundle[] {
  const [id, path] = [attributes.get("id"), attributes.get("path")];
  if (name !== "bundle" || !id || path === undefined) return [];
  const version = attributes.get("CFBundleShortVersionString") || attributes.get("CFBundleVersion") || "";
  return [{ id: cleanText(id), path, version }];
}

/** The application that a package installs: not those inside of others, and rather one that has the package's name. */
function appOf(bundles: readonly Bundle[], ids: readonly string[]): Bundle | null {
  const apps = bundles.filter(
    ({ path }) => /\.app\/?$/.test(path) && !/\.(app|framework|bundle)\//.test(path.slice(0, -1)),
  );
  const named = apps.find(({ id }) => ids.some((candidate) => candidate === id || candidate.startsWith(`${id}.`)));
  return named ?? apps[0] ?? null;
}

const appName = (path: string): string =>
  cleanText(
    path
      .replace(/\/$/, "")
      .replace(/^.*\//, "")
      .replace(/\.app$/, ""),
  );
