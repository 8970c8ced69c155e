// Applications of macOS.
import { basename, join } from "node:path";
import { homes } from "./accounts.ts";
import { mapFew, namesIn, outputOf } from "./read.ts";
import { double, MAC, type Row, type Table, text } from "./table.ts";

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
export function appRow(info: string, path: string): Row {
  const values = new Map<string, string>();
  for (const [, key, kind, value = ""] of info.matchAll(/^\t<key>([^<]*)<\/key>\n\t<(\w+)\/?>(?:([^<]*)<)?/gm))
    values.set(key!, kind === "true" ? "1" : kind === "false" ? "0" : value);
  const decoded = (text: string) => text.replace(/&(amp|lt|gt|quot|apos);/g, (_, name: string) => ENTITIES[name]!);
  const columns = Object.entries(KEYS).map(([column, key]) => [column, decoded(values.get(key) ?? "").trim()]);
  // When it was last opened is not in this file; osquery reports -1 for an unknown time.
  return { name: basename(path), path, ...Object.fromEntries(columns), last_opened_time: -1 };
}

async function apps(): Promise<Row[]> {
  const own = (await homes()).map(({ home }) => join(home, "Applications"));
  const found = await mapFew([...FOLDERS, ...own], async (folder) =>
    (await namesIn(folder)).filter((name) => name.endsWith(".app")).map((name) => join(folder, name)),
  );
  const rows = await mapFew([...new Set(found.flat())], async (path) => {
    const info = await outputOf("/usr/bin/plutil", ["-convert", "xml1", "-o", "-", join(path, "Contents/Info.plist")]);
    return info === "" ? [] : [appRow(info, path)];
  });
  return rows.flat();
}

export const appTables: readonly Table[] = [
  {
    name: "apps",
    platforms: MAC,
    columns: { ...text(`name path ${Object.keys(KEYS).join(" ")}`), ...double("last_opened_time") },
    rows: apps,
  },
];
