// Packages of the system and of languages.
import { join } from "node:path";
import { type HomeFolder, rowsOfHomes } from "./homes.ts";
import { fieldsOf, linesOf, mapFew, namesIn, objectIn, outputOf, readOr, stringOf } from "./read.ts";
import { ALL, bigint, integer, LINUX, MAC, type Table, type TableRow, text } from "./table.ts";

const DPKG = "/var/lib/dpkg";

export function debPackages(status: string): TableRow[] {
  return status.split(/\n{2,}/).flatMap((block) => {
    const fields = fieldsOf(block);
    const [name, version = ""] = [fields.get("Package"), fields.get("Version")];
    if (name === undefined) return [];
    const dash = version.lastIndexOf("-");
    return [
      {
        name,
        version,
        source: fields.get("Source") ?? "",
        size: Number(fields.get("Installed-Size") ?? 0) * 1024,
        arch: fields.get("Architecture") ?? "",
        revision: dash < 0 ? "" : version.slice(dash + 1),
        status: fields.get("Status") ?? "",
        maintainer: fields.get("Maintainer") ?? "",
        section: fields.get("Section") ?? "",
        priority: fields.get("Priority") ?? "",
        admindir: DPKG,
      },
    ];
  });
}

const PACMAN = "/var/lib/pacman/local";

/** `desc` of a package: names of fields between `%`, each with its values on the lines below. */
export function pacmanPackage(description: string): TableRow | null {
  const fields = new Map(
    [...description.matchAll(/^%(\w+)%\n((?:.+\n?)*)/gm)].map(([, name, values]) => [name!, values!.trim()]),
  );
  const value = (name: string) => (fields.get(name) ?? "").replaceAll("\n", ", ");
  if (value("NAME") === "") return null;
  return {
    name: value("NAME"),
    version: value("VERSION"),
    arch: value("ARCH"),
    description: value("DESC"),
    url: value("URL"),
    license: value("LICENSE"),
    packager: value("PACKAGER"),
    size: Number(value("SIZE")),
    install_time: Number(value("INSTALLDATE")),
  };
}

async function pacmanPackages(): Promise<TableRow[]> {
  const rows = await mapFew(await namesIn(PACMAN), async (name) =>
    pacmanPackage(await readOr(join(PACMAN, name, "desc"), "", DESCRIPTION_BYTES)),
  );
  return rows.filter((row) => row !== null);
}

/** The second is the place since version 3 of apk; one may be a link to the other. */
const APK_LISTS = ["/lib/apk/db/installed", "/usr/lib/apk/db/installed"];

/** The list of packages: lines `X:value`, and an empty one behind each package (apk-v2(5)). */
export function apkPackages(list: string): TableRow[] {
  return list.split(/\n{2,}/).flatMap((block) => {
    const fields = new Map([...block.matchAll(/^([A-Za-z]):(.*)$/gm)].map(([, name, value]) => [name!, value!]));
    const [name, version] = [fields.get("P"), fields.get("V")];
    if (name === undefined || version === undefined) return [];
    return [
      {
        name,
        version,
        arch: fields.get("A") ?? "",
        origin: fields.get("o") ?? "",
        description: fields.get("T") ?? "",
        url: fields.get("U") ?? "",
        license: fields.get("L") ?? "",
        maintainer: fields.get("m") ?? "",
        size: Number(fields.get("I") ?? 0),
        build_time: Number(fields.get("t") ?? 0),
      },
    ];
  });
}

const RPM_TAGS = [
  "NAME",
  "VERSION",
  "RELEASE",
  "SOURCERPM",
  "SIZE",
  "SHA1HEADER",
  "ARCH",
  "EPOCHNUM",
  "INSTALLTIME",
  "VENDOR",
  "GROUP",
];

async function rpmPackages(): Promise<TableRow[]> {
  const output = await outputOf("rpm", ["-qa", "--qf", `${RPM_TAGS.map((tag) => `%{${tag}}`).join("\\t")}\\n`]);
  return output.split("\n").flatMap((line) => {
    const values = line.split("\t").map((value) => (value === "(none)" ? "" : value));
    const [name, version, release, source, size, sha1, arch, epoch, installed, vendor, group] = values;
    if (!name || group === undefined) return [];
    return [
      {
        name,
        version,
        release,
        source,
        size: Number(size),
        sha1,
        arch,
        epoch: Number(epoch),
        install_time: Number(installed),
        vendor,
        package_group: group,
      },
    ];
  });
}

/** Where packages are read: the system's folders, or those of one account. */
interface Place {
  readonly uid: number;
  readonly read: (path: string) => Promise<string>;
  readonly names: (folder: string) => Promise<string[]>;
}

/** Bytes of the files that describe a package. */
const DESCRIPTION_BYTES = 4 * 1024 * 1024;
const system: Place = {
  uid: 0,
  read: (path) => readOr(path, "", DESCRIPTION_BYTES),
  names: (folder) => namesIn(folder),
};
const placeIn = (home: HomeFolder): Place => ({
  uid: home.account.uid,
  read: (path) => home.read(path),
  names: (folder) => home.names(folder),
});

/** `/usr/lib/python3.11/site-packages` and the like below a folder. */
async function pythonFolders(lib: string, { names }: Place): Promise<string[]> {
  const versions = (await names(lib)).filter((name) => /^python\d/.test(name));
  return versions.flatMap((name) => [join(lib, name, "dist-packages"), join(lib, name, "site-packages")]);
}

const PYTHON_LIBS = ["/usr/lib", "/usr/lib64", "/usr/local/lib", "/usr/local/lib64", "/opt/homebrew/lib"];

async function pythonPackagesBelow(libs: readonly string[], place: Place): Promise<TableRow[]> {
  const folders = await mapFew(libs, (lib) => pythonFolders(lib, place));
  return (await mapFew(folders.flat(), (folder) => pythonPackages(folder, place))).flat();
}

const pythonPackagesOf = (home: HomeFolder): Promise<TableRow[]> =>
  pythonPackagesBelow([join(home.path, ".local", "lib")], placeIn(home));

async function pythonPackages(folder: string, { uid, read, names }: Place): Promise<TableRow[]> {
  const infos = (await names(folder)).filter((name) => /\.(dist|egg)-info$/.test(name));
  const rows = await mapFew(infos, async (name) => {
    const path = join(folder, name);
    const header = name.endsWith(".dist-info")
      ? await read(join(path, "METADATA"))
      : (await read(join(path, "PKG-INFO"))) || (await read(path));
    const fields = fieldsOf(header.split(/\n\s*\n/, 1)[0]!);
    const [title, version] = [fields.get("Name"), fields.get("Version")];
    if (title === undefined || version === undefined) return null;
    return {
      name: title,
      version,
      summary: fields.get("Summary") ?? "",
      author: fields.get("Author") ?? "",
      license: fields.get("License") ?? "",
      path,
      directory: folder,
      uid,
    };
  });
  return rows.filter((row) => row !== null);
}

const NODE_FOLDERS = ["/usr/lib", "/usr/local/lib", "/opt/homebrew/lib"];

async function npmPackages(directory: string): Promise<TableRow[]> {
  const modules = join(directory, "node_modules");
  const names = await mapFew(await namesIn(modules), async (name) =>
    name.startsWith("@") ? (await namesIn(join(modules, name))).map((scoped) => join(name, scoped)) : [name],
  );
  const rows = await mapFew(names.flat(), async (name) => {
    const path = join(modules, name);
    const about = objectIn(await system.read(join(path, "package.json")));
    if (typeof about.name !== "string") return null;
    const author = about.author as { name?: unknown } | string | undefined;
    return {
      name: about.name,
      version: stringOf(about.version),
      description: stringOf(about.description),
      author: typeof author === "object" ? stringOf(author?.name) : stringOf(author),
      license: stringOf(about.license),
      homepage: stringOf(about.homepage),
      path,
      directory,
      depth: 0,
    };
  });
  return rows.filter((row) => row !== null);
}

async function brewPackages(): Promise<TableRow[]> {
  const places = ["/opt/homebrew", "/usr/local"].flatMap((prefix) => [
    { prefix, folder: join(prefix, "Cellar"), type: "formula" },
    { prefix, folder: join(prefix, "Caskroom"), type: "cask" },
  ]);
  const packages = await mapFew(places, async ({ prefix, folder, type }) =>
    mapFew(await namesIn(folder), async (name) => {
      const path = join(folder, name);
      const versions = (await namesIn(path)).filter((version) => !version.startsWith("."));
      return versions.map((version) => ({ name, path, version, type, auto_updates: 0, app_name: "", prefix }));
    }),
  );
  return packages.flat(2);
}

export const packageTables: readonly Table[] = [
  {
    name: "deb_packages",
    platforms: LINUX,
    columns: {
      ...text("name version source"),
      ...bigint("size"),
      ...text("arch revision status maintainer section priority admindir"),
    },
    async rows() {
      // Images without dpkg itself have one file for each package.
      const parts = (await namesIn(`${DPKG}/status.d`)).filter((name) => !name.endsWith(".md5sums"));
      const texts = await mapFew([`${DPKG}/status`, ...parts.map((name) => `${DPKG}/status.d/${name}`)], (path) =>
        readOr(path),
      );
      return texts.flatMap(debPackages);
    },
  },
  {
    name: "rpm_packages",
    platforms: LINUX,
    columns: {
      ...text("name version release source"),
      ...bigint("size"),
      ...text("sha1 arch"),
      ...integer("epoch install_time"),
      ...text("vendor package_group"),
    },
    rows: rpmPackages,
  },
  {
    // A table of managed agents, not of osquery.
    name: "pacman_packages",
    platforms: LINUX,
    columns: {
      ...text("name version arch description url license packager"),
      ...bigint("size install_time"),
    },
    rows: pacmanPackages,
  },
  {
    // A table of managed agents, not of osquery.
    name: "apk_packages",
    platforms: LINUX,
    columns: {
      ...text("name version arch origin description url license maintainer"),
      ...bigint("size build_time"),
    },
    async rows() {
      const [first, second] = await Promise.all(APK_LISTS.map((path) => readOr(path)));
      return apkPackages(first || second || "");
    },
  },
  {
    name: "portage_packages",
    platforms: LINUX,
    columns: {
      ...text("package version slot"),
      ...bigint("build_time"),
      ...text("repository"),
      ...bigint("eapi size world"),
    },
    async rows() {
      const root = "/var/db/pkg";
      const packages = await mapFew(await namesIn(root), async (category) =>
        (await namesIn(join(root, category))).flatMap((name) => {
          const [, title, version] = /^(.+?)-(\d.*)$/.exec(name) ?? [];
          return title === undefined ? [] : [{ package: `${category}/${title}`, version: version! }];
        }),
      );
      return packages.flat();
    },
  },
  {
    name: "apt_sources",
    platforms: LINUX,
    columns: text("name source base_uri release version maintainer components architectures"),
    async rows() {
      const folder = "/etc/apt/sources.list.d";
      const lists = (await namesIn(folder)).filter((name) => name.endsWith(".list")).map((name) => join(folder, name));
      const sources = await mapFew(["/etc/apt/sources.list", ...lists], async (source) =>
        (await linesOf(source)).flatMap((line) => {
          const [, options = "", uri, release, components = ""] =
            /^deb\s+(?:\[([^\]]*)\]\s+)?(\S+)\s+(\S+)\s*(.*)$/.exec(line.trim()) ?? [];
          if (uri === undefined) return [];
          const architectures = /arch=(\S+)/.exec(options)?.[1] ?? "";
          const name = `${uri.replace(/^\w+:\/+/, "")} ${release}`;
          return [
            { name, source, base_uri: uri, release: release!, version: "", maintainer: "", components, architectures },
          ];
        }),
      );
      return sources.flat();
    },
  },
  {
    name: "python_packages",
    platforms: ALL,
    columns: { ...text("name version summary author license path directory"), ...bigint("uid") },
    findsBy: ["directory"],
    async rows({ constraints: { directory = [] } }) {
      if (directory.length > 0) return (await mapFew(directory, ({ value }) => pythonPackages(value, system))).flat();
      return [...(await pythonPackagesBelow(PYTHON_LIBS, system)), ...(await rowsOfHomes(pythonPackagesOf))];
    },
  },
  {
    name: "npm_packages",
    platforms: ALL,
    columns: { ...text("name version description author license homepage path directory"), ...integer("depth") },
    findsBy: ["directory"],
    async rows({ constraints: { directory = [] } }) {
      const folders = directory.length > 0 ? directory.map(({ value }) => value) : NODE_FOLDERS;
      return (await mapFew(folders, npmPackages)).flat();
    },
  },
  {
    name: "homebrew_packages",
    platforms: MAC,
    columns: { ...text("name path version type"), ...integer("auto_updates"), ...text("app_name prefix") },
    rows: brewPackages,
  },
];
