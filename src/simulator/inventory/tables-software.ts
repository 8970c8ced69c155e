import type { SqlRow } from "../sql/execute.ts";
import type { CatalogName, Package } from "./catalog.ts";
import { softwareOf } from "./software.ts";
import { ALL, columns, DARWIN, LINUX, type TableSpec, WINDOWS } from "./table-spec.ts";
import { ownerOf } from "./tables-accounts.ts";
import type { MachineView } from "./view.ts";

function rowsOf(view: MachineView, catalog: CatalogName, row: (item: Package, index: number) => SqlRow): SqlRow[] {
  return softwareOf(view.machine, catalog, view.state.changes).map(row);
}

function perUser(catalog: CatalogName, row: (item: Package, home: string) => SqlRow): TableSpec["rows"] {
  return (view) => {
    const { uid, directory } = ownerOf(view.machine);
    return rowsOf(view, catalog, (item) => ({ uid, ...row(item, directory) }));
  };
}

const none = () => [];
const dashed = (name: string) => name.toLowerCase().replaceAll(" ", "-");

/** Installed software by source, from the shared catalogue. */
export const SOFTWARE_TABLES: Readonly<Record<string, TableSpec>> = {
  apps: {
    families: DARWIN,
    columns: columns(
      "name path bundle_executable bundle_identifier bundle_name bundle_short_version bundle_version last_opened_time minimum_system_version",
    ),
    rows: (view) =>
      rowsOf(view, "apps", (item, index) => ({
        name: `${item.name}.app`,
        path: `/Applications/${item.name}.app`,
        bundle_executable: item.name,
        bundle_identifier: `${item.vendor}.${dashed(item.name)}`,
        bundle_name: item.name,
        bundle_short_version: index % 17 === 3 ? "" : item.version,
        bundle_version: item.version,
        last_opened_time: index % 5 === 0 ? -1 : view.state.bootedAt + index * 60 + 0.25,
        minimum_system_version: "11.0",
      })),
  },
  homebrew_packages: {
    families: DARWIN,
    columns: columns("name path version type auto_updates app_name prefix"),
    rows: (view) =>
      rowsOf(view, "homebrew", (item) => ({
        name: item.name,
        path: `/opt/homebrew/Cellar/${item.name}`,
        version: item.version,
        type: "formula",
        auto_updates: 0,
        app_name: "",
        prefix: "/opt/homebrew",
      })),
  },
  safari_extensions: {
    families: DARWIN,
    perUser: true,
    columns: columns("uid name identifier version sdk description path bundle_version copyright extension_type"),
    rows: perUser("firefox", (item) => ({
      name: item.name,
      identifier: `com.example.${dashed(item.name)}`,
      version: item.version,
      sdk: "",
      description: "",
      path: `/Applications/${item.name}.app/Contents/PlugIns/${item.name}.appex`,
      bundle_version: item.version,
      copyright: "",
      extension_type: "WebOrAppExtension",
    })),
  },
  deb_packages: {
    families: LINUX,
    columns: columns("name version source size arch revision status maintainer section priority"),
    rows: (view) => {
      if (view.machine.platform.packages !== "deb") return [];
      const suffix = view.machine.platform.key === "ubuntu" ? "0ubuntu1" : "1";
      return rowsOf(view, "unix", (item, index) => ({
        name: item.name,
        version: `${item.version}-${suffix}`,
        source: "",
        size: 100 + index,
        arch: "amd64",
        revision: suffix,
        // A removed package that left its configuration files behind is not installed.
        status: index % 50 === 49 ? "deinstall ok config-files" : "install ok installed",
        maintainer: "Example Maintainers <maintainers@example.com>",
        section: "utils",
        priority: "optional",
      }));
    },
  },
  rpm_packages: {
    families: LINUX,
    columns: columns("name version release source size sha1 arch epoch install_time vendor package_group"),
    rows: (view) => {
      const { key, packages } = view.machine.platform;
      if (packages !== "rpm") return [];
      const release = { fedora: "1.fc40", amazon: "1.amzn2023", centos: "1.el7" }[key] ?? "1.el9";
      return rowsOf(view, "unix", (item, index) => ({
        name: item.name,
        version: item.version,
        release,
        source: `${item.name}-${item.version}-${release}.src.rpm`,
        size: 1000 + index,
        sha1: "",
        arch: "x86_64",
        epoch: index % 20 === 0 ? 1 : null,
        install_time: 1_700_000_000 + index,
        vendor: key === "fedora" ? "Fedora Project" : "Example Vendor",
        package_group: "Unspecified",
      }));
    },
  },
  portage_packages: {
    families: LINUX,
    columns: columns("package version slot build_time repository eapi size world"),
    rows: none,
  },
  programs: {
    families: WINDOWS,
    columns: columns(
      "name version install_location install_source language publisher uninstall_string install_date identifying_number",
    ),
    rows: (view) =>
      rowsOf(view, "programs", (item) => ({
        name: item.name,
        version: item.version,
        install_location: `C:\\Program Files\\${item.name}\\`,
        install_source: "",
        language: "1033",
        publisher: item.vendor,
        uninstall_string: `MsiExec.exe /X{${item.id.slice(0, 8).toUpperCase()}}`,
        install_date: "20240115",
        identifying_number: `{${item.id.slice(0, 8)}-${item.id.slice(8, 12)}-${item.id.slice(12, 16)}}`.toUpperCase(),
      })),
  },
  chocolatey_packages: { families: WINDOWS, columns: columns("name version summary author license path"), rows: none },
  ie_extensions: { families: WINDOWS, columns: columns("name registry_path version path"), rows: none },
  npm_packages: {
    families: ALL,
    columns: columns("name version description author license homepage path directory"),
    rows: (view) =>
      rowsOf(view, "npm", (item) => ({
        name: item.name,
        version: item.version,
        description: "",
        author: "",
        license: "MIT",
        homepage: "",
        path: `/usr/lib/node_modules/${item.name}`,
        directory: "/usr/lib/node_modules",
      })),
  },
  python_packages: {
    families: ALL,
    perUser: true,
    perUserSince: "5.16.0",
    columns: columns("uid name version summary author license path directory"),
    rows: perUser("python", (item, home) => ({
      name: item.name,
      version: item.version,
      summary: "",
      author: "",
      license: "",
      path: `${home}/.local/lib/python3.12/site-packages/${item.name}-${item.version}.dist-info`,
      directory: `${home}/.local/lib/python3.12/site-packages`,
    })),
  },
  chrome_extensions: {
    families: ALL,
    perUser: true,
    columns: columns(
      "uid browser_type name profile profile_path identifier version description path state from_webstore",
    ),
    rows: perUser("chrome", (item, home) => ({
      browser_type: item.id < "d" ? "edge" : "chrome",
      name: item.name,
      profile: "Default",
      profile_path: `${home}/.config/google-chrome/Default`,
      identifier: item.id,
      version: item.version,
      description: "",
      path: `${home}/.config/google-chrome/Default/Extensions/${item.id}/${item.version}_0`,
      state: 1,
      from_webstore: "true",
    })),
  },
  firefox_addons: {
    families: ALL,
    perUser: true,
    columns: columns(
      "uid name identifier creator type version description source_url visible active disabled autoupdate location path",
    ),
    rows: perUser("firefox", (item, home) => ({
      name: item.name,
      identifier: `${dashed(item.name)}@example.com`,
      creator: "",
      type: "extension",
      version: item.version,
      description: "",
      source_url: "",
      visible: 1,
      active: 1,
      disabled: 0,
      autoupdate: 1,
      location: "app-profile",
      path: `${home}/.mozilla/firefox/default/extensions/${dashed(item.name)}.xpi`,
    })),
  },
  vscode_extensions: {
    families: ALL,
    perUser: true,
    since: "5.11.0",
    columns: columns("name uuid version path publisher publisher_id installed_at prerelease uid"),
    rows: perUser("vscode", (item, home) => ({
      name: `${item.vendor}.${item.name}`,
      uuid: item.id,
      version: item.version,
      path: `${home}/.vscode/extensions/${item.vendor}.${item.name}-${item.version}`,
      publisher: item.vendor,
      publisher_id: item.id.slice(0, 12),
      installed_at: 1_700_000_000_000,
      prerelease: 0,
    })),
  },
};
