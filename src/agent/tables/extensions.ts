// Extensions of browsers and editors, in the folders of all users.
import { join } from "node:path";
import { homes } from "./accounts.ts";
import { mapFew, namesIn, readJson, stringOf } from "./read.ts";
import { ALL, bigint, integer, type Row, type Table, text } from "./table.ts";

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

/** A name may stand for a text in a file of the extension's language. */
async function messageOf(folder: string, manifest: Record<string, unknown>, value: string): Promise<string> {
  const key = /^__MSG_(.+)__$/.exec(value)?.[1];
  if (key === undefined) return value;
  const file = join(folder, "_locales", stringOf(manifest.default_locale) || "en", "messages.json");
  const messages = Object.entries(await readJson(file));
  const found = messages.find(([name]) => name.toLowerCase() === key.toLowerCase())?.[1];
  return stringOf((found as { message?: unknown } | undefined)?.message) || value;
}

async function chromeExtensions(): Promise<Row[]> {
  const browsers = (await homes()).flatMap(({ uid, home }) =>
    Object.entries(CHROMIUM).flatMap(([browser, places]) => {
      const place = places[process.platform];
      return place === undefined ? [] : [{ uid, browser, folder: join(home, place) }];
    }),
  );
  const found = await mapFew(browsers, async ({ uid, browser, folder }) => {
    const rows: Row[] = [];
    for (const profile of (await namesIn(folder)).filter((name) => /^(Default|Profile \d+)$/.test(name))) {
      const root = join(folder, profile, "Extensions");
      for (const identifier of await namesIn(root))
        for (const version of await namesIn(join(root, identifier))) {
          const path = join(root, identifier, version);
          const manifest = await readJson(join(path, "manifest.json"));
          if (typeof manifest.name !== "string") continue;
          const update = stringOf(manifest.update_url);
          rows.push({
            browser_type: browser,
            uid,
            name: await messageOf(path, manifest, manifest.name),
            profile,
            profile_path: join(folder, profile),
            referenced_identifier: identifier,
            identifier,
            version: stringOf(manifest.version),
            description: await messageOf(path, manifest, stringOf(manifest.description)),
            default_locale: stringOf(manifest.default_locale),
            current_locale: "",
            update_url: update,
            author: stringOf(manifest.author),
            persistent: 0,
            path,
            permissions: Array.isArray(manifest.permissions) ? manifest.permissions.join(", ") : "",
            permissions_json: JSON.stringify(manifest.permissions ?? []),
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
    return rows;
  });
  return found.flat();
}

async function firefoxAddons(): Promise<Row[]> {
  const place = FIREFOX[process.platform];
  if (place === undefined) return [];
  const found = await mapFew(await homes(), async ({ uid, home }) => {
    const rows: Row[] = [];
    for (const profile of await namesIn(join(home, place))) {
      const { addons } = await readJson(join(home, place, profile, "extensions.json"));
      for (const addon of Array.isArray(addons) ? (addons as Record<string, unknown>[]) : []) {
        const locale = { ...(addon.defaultLocale as Record<string, unknown> | undefined) };
        rows.push({
          uid,
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
  });
  return found.flat();
}

async function vscodeExtensions(): Promise<Row[]> {
  const editors = {
    ".vscode": "vscode",
    ".vscode-server": "vscode",
    ".vscode-insiders": "vscode_insiders",
    ".cursor": "cursor",
    ".windsurf": "windsurf",
    ".vscode-oss": "vscodium",
  };
  const places = (await homes()).flatMap(({ uid, home }) =>
    Object.entries(editors).map(([name, edition]) => ({ uid, edition, folder: join(home, name, "extensions") })),
  );
  const found = await mapFew(places, async ({ uid, edition, folder }) =>
    mapFew(await namesIn(folder), async (name) => {
      const path = join(folder, name);
      const about = await readJson(join(path, "package.json"));
      if (typeof about.name !== "string") return null;
      const ids = { ...(about.__metadata as Record<string, unknown> | undefined) };
      return {
        name: `${stringOf(about.publisher)}.${about.name}`,
        uuid: stringOf(ids.id),
        version: stringOf(about.version),
        path,
        publisher: stringOf(about.publisher),
        publisher_id: stringOf(ids.publisherId),
        installed_at: typeof ids.installedTimestamp === "number" ? ids.installedTimestamp : 0,
        prerelease: ids.isPreReleaseVersion === true ? 1 : 0,
        uid,
        vscode_edition: edition,
      };
    }),
  );
  return found.flat().filter((row) => row !== null);
}

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
    rows: chromeExtensions,
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
    rows: firefoxAddons,
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
    rows: vscodeExtensions,
  },
];
