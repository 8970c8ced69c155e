// Applications of macOS.
import { basename, join } from "node:path";
import { readRegular } from "../reading/regular-file.ts";
import { rowsOfHomes } from "./homes.ts";
import { mapFew, namesIn, outputOf } from "./read.ts";
import { double, MAC, type Table, type TableRow, text } from "./table.ts";

const FOLDERS = ["/Applications", "/Applications/Utilities", "/System/Applications", "/System/Applications/Utilities"];

/** Columns, and their keys in Info.plist. */
const KEYS = {
  bundle_executable: "CFBundleExecutable",
  bundle_identifier: "CFBundleIdentifier",
  bundle_name: "CFBundleName",
  bundle_short_version: "CFBundleShortVersionString",
  bundle_version: "CFBundleVersion",
  bundle_package_type: "CFBundlePackageType",
  environment: "LSEnvironment",
  element: "LSUIElement",
  compiler: "DTCompiler",
  development_region: "CFBundleDevelopmentRegion",
  display_name: "CFBundleDisplayName",
  info_string: "CFBundleGetInfoString",
  minimum_system_version: "LSMinimumSystemVersion",
  category: "LSApplicationCategoryType",
  applescript_enabled: "NSAppleScriptEnabled",
  copyright: "NSHumanReadableCopyright",
} as const;

const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

/** `info`: Info.plist as plutil writes it in XML, where the keys of the outermost dictionary have one tab. */
export function appRow(info: string, path: string): TableRow {
  const values = new Map<string, string>();
  for (const [, key, kind, value = ""] of info.matchAll(/^\t<key>([^<]*)<\/key>\n\t<(\w+)\/?>(?:([^<]*)<)?/gm))
    values.set(key!, kind === "true" ? "1" : kind === "false" ? "0" : value);
  const decoded = (text: string) => text.replace(/&(amp|lt|gt|quot|apos);/g, (_, name: string) => ENTITIES[name]!);
  const columns = Object.entries(KEYS).map(([column, key]) => [column, decoded(values.get(key) ?? "").trim()]);
  // The file does not say when the app was last opened; osquery reports -1 for an unknown time.
  return { name: basename(path), path, ...Object.fromEntries(columns), last_opened_time: -1 };
}

/** plutil reads the file from its input, so that it opens nothing that is no regular file. */
async function appsAt(paths: readonly string[], read: (path: string) => Promise<string | Buffer>): Promise<TableRow[]> {
  const rows = await mapFew(paths, async (path) => {
    const content = await read(join(path, "Contents/Info.plist"));
    if (content.length === 0) return [];
    const info = await outputOf("/usr/bin/plutil", ["-convert", "xml1", "-o", "-", "--", "-"], { input: content });
    return info === "" ? [] : [appRow(info, path)];
  });
  return rows.flat();
}

const INFO_BYTES = 4 * 1024 * 1024;
const isApp = (name: string) => name.endsWith(".app");

async function apps(): Promise<TableRow[]> {
  const paths = await mapFew(FOLDERS, async (folder) =>
    (await namesIn(folder)).filter(isApp).map((name) => join(folder, name)),
  );
  const read = (path: string) => readRegular(path, { maxBytes: INFO_BYTES }).catch(() => "");
  const homeRows = await rowsOfHomes(async (home) => {
    const folder = join(home.path, "Applications");
    const names = (await home.names(folder)).filter(isApp);
    return appsAt(
      names.map((name) => join(folder, name)),
      (path) => home.bytes(path),
    );
  });
  return [...(await appsAt([...new Set(paths.flat())], read)), ...homeRows];
}

export const appTables: readonly Table[] = [
  {
    name: "apps",
    platforms: MAC,
    columns: { ...text(`name path ${Object.keys(KEYS).join(" ")}`), ...double("last_opened_time") },
    rows: apps,
  },
];
