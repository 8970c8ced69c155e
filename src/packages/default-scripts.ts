// What hosts run to install and uninstall a package if nobody has written scripts for it. The agent names the downloaded
// file in INSTALLER_PATH.
import { quotedShellWord } from "../text/shell.ts";
import type { PackageInfo, PackageKind } from "./package.ts";

interface DefaultScripts {
  /** Empty: there is none, so that users have to write one. */
  readonly install: string;
  readonly uninstall: string;
}

const none: DefaultScripts = { install: "", uninstall: "" };

const lines = (...all: readonly string[]): string => `${all.join("\n")}\n`;
const shell = (...all: readonly string[]): string => lines("#!/bin/sh", ...all);

/** For PowerShell. */
const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;

const makers: Readonly<Record<PackageKind, (info: PackageInfo) => DefaultScripts>> = {
  deb: ({ name }) => ({
    install: shell(
      "set -e",
      "export DEBIAN_FRONTEND=noninteractive",
      "# apt-get also installs what the package needs.",
      'apt-get install --assume-yes --allow-downgrades -o Dpkg::Options::=--force-confold "$INSTALLER_PATH"',
    ),
    uninstall: shell(
      "set -e",
      "export DEBIAN_FRONTEND=noninteractive",
      `apt-get remove --purge --assume-yes ${quotedShellWord(name)}`,
    ),
  }),
  rpm: ({ name }) => ({
    install: shell(
      "set -e",
      "for tool in dnf yum; do",
      '  if command -v "$tool" > /dev/null; then',
      '    exec "$tool" install --assumeyes "$INSTALLER_PATH"',
      "  fi",
      "done",
      "if command -v zypper > /dev/null; then",
      '  exec zypper --non-interactive install --allow-unsigned-rpm "$INSTALLER_PATH"',
      "fi",
      'exec rpm --upgrade --replacepkgs "$INSTALLER_PATH"',
    ),
    uninstall: shell(
      "set -e",
      "for tool in dnf yum; do",
      '  if command -v "$tool" > /dev/null; then',
      `    exec "$tool" remove --assumeyes ${quotedShellWord(name)}`,
      "  fi",
      "done",
      `exec rpm --erase ${quotedShellWord(name)}`,
    ),
  }),
  pkg: ({ packageIds, name }) => ({
    install: shell('exec installer -pkg "$INSTALLER_PATH" -target /'),
    uninstall: shell(
      "# Removes the files that the package has installed, then folders of it that are empty, then its receipt.",
      "remove() {",
      '  pkgutil --pkgs | grep -qxF "$1" || return 0',
      `  root="$(pkgutil --pkg-info "$1" | sed -n 's/^volume: //p')$(pkgutil --pkg-info "$1" | sed -n 's/^location: //p')"`,
      '  pkgutil --only-files --files "$1" | while IFS= read -r file; do rm -f "$root/$file"; done',
      '  pkgutil --only-dirs --files "$1" | sort -r | while IFS= read -r folder; do rmdir "$root/$folder" 2> /dev/null; done',
      '  pkgutil --forget "$1"',
      "}",
      ...packageIds.map((id) => `remove ${quotedShellWord(id)}`),
      `app=${quotedShellWord(`/Applications/${name}.app`)}`,
      'if [ -d "$app" ]; then rm -rf "$app"; fi',
    ),
  }),
  msi: ({ packageIds: [productCode = ""], upgradeCode }) => ({
    install: lines(
      "$log = Join-Path $env:TEMP 'svc-install.log'",
      '$run = Start-Process msiexec.exe -ArgumentList "/quiet /norestart /lv `"$log`" /i `"$env:INSTALLER_PATH`"" -PassThru -Wait',
      "Get-Content $log -Tail 200 -ErrorAction SilentlyContinue",
      "# 3010: installed, and the system is to be started again.",
      "if ($run.ExitCode -eq 3010) { exit 0 }",
      "exit $run.ExitCode",
    ),
    uninstall: lines(
      `$codes = @(${literal(productCode)})`,
      `$upgradeCode = ${literal(upgradeCode)}`,
      "if ($upgradeCode -ne '') {",
      "  # Other versions of the product have other product codes.",
      "  $installer = New-Object -ComObject WindowsInstaller.Installer",
      "  $codes += @($installer.RelatedProducts($upgradeCode))",
      "}",
      "foreach ($code in ($codes | Where-Object { $_ -ne '' } | Select-Object -Unique)) {",
      '  $run = Start-Process msiexec.exe -ArgumentList "/quiet /norestart /x $code" -PassThru -Wait',
      "  # 1605: it is not installed. 3010: the system is to be started again.",
      "  if ($run.ExitCode -notin 0, 1605, 3010) { exit $run.ExitCode }",
      "}",
    ),
  }),
  exe: () => none,
  "tar.gz": () => none,
  ipa: () => none,
  sh: () => none,
  py: () => none,
  ps1: () => none,
};

export const defaultScripts = (info: PackageInfo): DefaultScripts => makers[info.kind](info);

/**
 * Whether the text is what hosts run unless somebody writes another one. A package may call itself otherwise than its
 * title.
 */
export function isDefaultScript(info: PackageInfo, which: keyof DefaultScripts, text: string): boolean {
  const named = info.kind === "pkg" ? /^app='\/Applications\/(.*)\.app'$/m.exec(text)?.[1] : undefined;
  const names = [info.name, ...(named === undefined ? [] : [named.replaceAll("'\\''", "'")])];
  return names.some((name) => makers[info.kind]({ ...info, name })[which] === text);
}
