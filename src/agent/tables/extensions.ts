// Extensions of browsers and editors, in the folders of all users.
import { join } from "node:path";
import { type HomeFolder, rowsOfHomes } from "./homes.ts";
import { objectOf, stringOf } from "./read.ts";
import { ALL, bigint, integer, type Table, type TableRow, text } from "./table.ts";

/** The folders of browsers built on Chromium, below a home folder. */
const CHROMIUM: Record<string, Partial<Record<NodeJS.Platform, string>>> = {
  chrome: {
    linux: ".config/google-chrome",
    darwin: "Library/Application Support/Google/Chrome",
    win32: "AppData/Local/Google/Chrome/User Data",
  },
  chromium: {
    linux: ".config/chromium",
    darwin: "Library/Application Support/Chromium",
    win32: "AppData/Local/Chromium/User Data",
  },
  brave: {
    linux: ".config/BraveSoftware/Brave-Browser",
    darwin: "Library/Application Support/BraveSoftware/Brave-Browser",
    win32: "AppData/Local/BraveSoftware/Brave-Browser/User Data",
  },
  edge: {
    linux: ".config/microsoft-edge",
    darwin: "Library/Application Support/Microsoft Edge",
    win32: "AppData/Local/Microsoft/Edge/User Data",
  },
};

const FIREFOX: Partial<Record<NodeJS.Platform, string>> = {
  linux: ".mozilla/firefox",
  darwin: "Library/Application Support/Firefox/Profiles",
  win32: "AppData/Roaming/Mozilla/Firefox/Profiles",
};

const isText = (value: unknown) => typeof value === "string";

/** A name may stand for a text in a file of the extension's language. */
async function messageOf(
  home: HomeFolder,
  folder: string,
  manifest: Record<string, unknown>,
  value: string,
): Promise<string> {
  const key = /^__MSG_(.+)__$/.exec(value)?.[1];
  if (key === undefined) return value;
  const file = join(folder, "_locales", stringOf(manifest.default_locale) || "en", "messages.json");
  const messages = Object.entries(await home.json(file));
  const entry = messages.find(([name]) => name.toLowerCase() === key.toLowerCase())?.[1];
  return stringOf(objectOf(entry).message) || value;
}

async function chromeExtensions(home: HomeFolder): Promise<TableRow[]> {
  const rows: TableRow[] = [];
  for (const [browser, places] of Object.entries(CHROMIUM)) {
    const place = places[process.platform];
    if (place === undefined) continue;
    const folder = join(home.path, place);
    for (const profile of (await home.names(folder)).filter((name) => /^(Default|Profile \d+)$/.test(name))) {
      const profilePath = join(folder, profile);
      const root = join(profilePath, "Extensions");
      for (const identifier of await home.names(root))
        for (const version of await home.names(join(root, identifier))) {
          const path = join(root, identifier, version);
          const manifest = await home.json(join(path, "manifest.json"));
          if (typeof manifest.name !== "string") continue;
          const update = stringOf(manifest.update_url);
          const permissions = Array.isArray(manifest.permissions) ? manifest.permissions.filter(isText) : [];
          rows.push({
            browser_type: browser,
            uid: home.account.uid,
            name: await messageOf(home, path, manifest, manifest.name),
            profile,
            profile_path: profilePath,
            referenced_identifier: identifier,
            identifier,
            version: stringOf(manifest.version),
            description: await messageOf(home, path, manifest, stringOf(manifest.description)),
            default_locale: stringOf(manifest.default_locale),
            current_locale: "",
            update_url: update,
            author: stringOf(manifest.author),
            persistent: 0,
            path,
            permissions: permissions.join(", "),
            permissions_json: JSON.stringify(permissions),
            optional_permissions: "",
            optional_permissions_json: "[]",
            manifest_hash: "",
            referenced: 1,
            from_webstore: String(/google\.com/.test(update)),
            state: "",
            install_time: "",
            install_timestamp: 0,
            manifest_json: "",
            key: stringOf(manifest.key),
          });
        }
    }
  }
  return rows;
}

async function firefoxAddons(home: HomeFolder): Promise<TableRow[]> {
  const place = FIREFOX[process.platform];
  if (place === undefined) return [];
  const rows: TableRow[] = [];
  for (const profile of await home.names(join(home.path, place))) {
    const { addons } = await home.json(join(home.path, place, profile, "extensions.json"));
    for (const addon of Array.isArray(addons) ? addons.map(objectOf) : []) {
      const locale = objectOf(addon.defaultLocale);
      rows.push({
        uid: home.account.uid,
        name: stringOf(locale.name),
        identifier: stringOf(addon.id),
        creator: stringOf(locale.creator),
        type: stringOf(addon.type),
        version: stringOf(addon.version),
        description: stringOf(locale.description),
        source_url: stringOf(addon.sourceURI),
        visible: addon.visible === true ? 1 : 0,
        active: addon.active === true ? 1 : 0,
        disabled: addon.active === true ? 0 : 1,
        autoupdate: addon.applyBackgroundUpdates ? 1 : 0,
        location: stringOf(addon.location),
        path: stringOf(addon.path),
      });
    }
  }
  return rows;
}

const EDITORS = {
  ".vscode": "vscode",
  ".vscode-server": "vscode",
  ".vscode-insiders": "vscode_insiders",
  ".cursor": "cursor",
  ".windsurf": "windsurf",
  ".vscode-oss": "vscodium",
};

async function vscodeExtensions(home: HomeFolder): Promise<TableRow[]> {
  const rows: TableRow[] = [];
  for (const [name, edition] of Object.entries(EDITORS)) {
    const folder = join(home.path, name, "extensions");
    for (const extension of await home.names(folder)) {
      const path = join(folder, extension);
      const about = await home.json(join(path, "package.json"));
      if (typeof about.name !== "string") continue;
      const ids = objectOf(about.__metadata);
      rows.push({
        name: `${stringOf(about.publisher)}.${about.name}`,
        uuid: stringOf(ids.id),
        version: stringOf(about.version),
        path,
        publisher: stringOf(about.publisher),
        publisher_id: stringOf(ids.publisherId),
        installed_at: typeof ids.installedTimestamp === "number" ? ids.installedTimestamp : 0,
        prerelease: ids.isPreReleaseVersion === true ? 1 : 0,
        uid: home.account.uid,
        vscode_edition: edition,
      });
    }
  }
  return rows;
}

export { chromeExtensions, firefoxAddons, vscodeExtensions };

export const extensionTables: readonly Table[] = [
  {
    name: "chrome_extensions",
    platforms: ALL,
    columns: {
      ...text("browser_type"),
      ...bigint("uid"),
      ...text("name profile profile_path referenced_identifier identifier version description default_locale"),
      ...text("current_locale update_url author"),
      ...integer("persistent"),
      ...text("path permissions permissions_json optional_permissions optional_permissions_json manifest_hash"),
      ...bigint("referenced"),
      ...text("from_webstore state install_time"),
      ...bigint("install_timestamp"),
      ...text("manifest_json key"),
    },
    rows: () => rowsOfHomes(chromeExtensions),
  },
  {
    name: "firefox_addons",
    platforms: ALL,
    columns: {
      ...bigint("uid"),
      ...text("name identifier creator type version description source_url"),
      ...integer("visible active disabled autoupdate"),
      ...text("location path"),
    },
    rows: () => rowsOfHomes(firefoxAddons),
  },
  {
    name: "vscode_extensions",
    platforms: ALL,
    columns: {
      ...text("name uuid version path publisher publisher_id"),
      ...bigint("installed_at"),
      ...integer("prerelease"),
      ...bigint("uid"),
      ...text("vscode_edition"),
    },
    rows: () => rowsOfHomes(vscodeExtensions),
  },
];
