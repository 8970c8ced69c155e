// `augeas`: settings of the system, from a fixed list of files that contain no secrets. A query chooses among them, and
// cannot name others: who may write queries may not therefore read files.
import { mapFew, namesIn, readOr } from "./read.ts";
import { type Constraint, type Table, type TableRow, text, UNIX } from "./table.ts";

/** How a file is read: one setting on each line, as `name value` or as `name = value`, or both. */
type Lens = (line: string) => readonly [label: string, value: string] | null;

const pairOf = (match: RegExpExecArray | null) => (match === null ? null : ([match[1]!, match[2]!] as const));
const spaced: Lens = (line) => pairOf(/^\s*([\w.-]+)(?:\s*=\s*|\s+)(\S(?:.*\S)?)\s*$/.exec(line));
const assigned: Lens = (line) => pairOf(/^\s*(?:export\s+)?-?([\w./*-]+)\s*=\s*(\S(?:.*\S)?)\s*$/.exec(line));

interface SettingsFiles {
  readonly lens: Lens;
  readonly files?: readonly string[];
  /** Files of these folders whose names have the ending. */
  readonly folders?: readonly string[];
  readonly ending?: string;
}

const SETTINGS: readonly SettingsFiles[] = [
  {
    lens: spaced,
    files: [
      "/etc/ssh/sshd_config",
      "/etc/ssh/ssh_config",
      "/private/etc/ssh/sshd_config",
      "/private/etc/ssh/ssh_config",
      "/etc/login.defs",
      "/etc/host.conf",
      "/etc/chrony.conf",
      "/etc/chrony/chrony.conf",
      "/etc/ntp.conf",
    ],
  },
  {
    lens: spaced,
    folders: ["/etc/ssh/sshd_config.d", "/etc/ssh/ssh_config.d", "/usr/lib/ssh/sshd_config.d"],
    ending: ".conf",
  },
  {
    lens: assigned,
    files: [
      "/etc/sysctl.conf",
      "/etc/os-release",
      "/usr/lib/os-release",
      "/etc/selinux/config",
      "/etc/default/grub",
      "/etc/default/useradd",
      "/etc/default/ufw",
      "/etc/default/keyboard",
      "/etc/default/locale",
      "/etc/locale.conf",
      "/etc/security/pwquality.conf",
      "/etc/security/faillock.conf",
      "/etc/security/pwhistory.conf",
      "/etc/audit/auditd.conf",
      "/etc/firewalld/firewalld.conf",
      "/etc/dnf/automatic.conf",
    ],
  },
  {
    lens: assigned,
    folders: ["/etc/sysctl.d", "/run/sysctl.d", "/usr/lib/sysctl.d", "/usr/local/lib/sysctl.d", "/etc/systemd"],
    ending: ".conf",
  },
];

const FILE_BYTES = 256 * 1024;
/** Files in one folder. */
const FILES_MAX = 200;

export function settingRows(content: string, path: string, lens: Lens = spaced): TableRow[] {
  return content.split("\n").flatMap((line) => {
    const [label, value] = lens(line) ?? [];
    return label === undefined ? [] : [{ node: `/files${path}/${label}`, value: value!, label, path }];
  });
}

/** `%` any text, `_` any character. */
const likeMatcher = (pattern: string) =>
  new RegExp(
    `^${pattern
      .replace(/[.*+?^${}()|[\]\\]/g, "\\$&")
      .replace(/%+/g, ".*")
      .replaceAll("_", ".")}$`,
    "i",
  );

function chosenBy(constraints: readonly Constraint[]): (path: string) => boolean {
  if (constraints.length === 0) return () => true;
  const tests = constraints.map(({ value, isLike }) => {
    const pattern = isLike ? likeMatcher(value) : null;
    return (path: string) => pattern?.test(path) ?? path === value;
  });
  return (path) => tests.some((test) => test(path));
}

async function pathsOf({ files = [], folders = [], ending = "" }: SettingsFiles): Promise<string[]> {
  const fragments = await mapFew(folders, async (folder) =>
    (await namesIn(folder))
      .filter((name) => name.endsWith(ending))
      .slice(0, FILES_MAX)
      .map((name) => `${folder}/${name}`),
  );
  return [...files, ...fragments.flat()];
}

async function settings(constraints: readonly Constraint[]): Promise<TableRow[]> {
  const isChosen = chosenBy(constraints);
  const rows = await mapFew(SETTINGS, async (group) =>
    mapFew((await pathsOf(group)).filter(isChosen), async (path) =>
      settingRows(await readOr(path, "", FILE_BYTES), path, group.lens),
    ),
  );
  return rows.flat(2);
}

export const settingsTables: readonly Table[] = [
  {
    name: "augeas",
    platforms: UNIX,
    findsBy: ["path"],
    columns: text("node value label path"),
    rows: ({ constraints: { path = [] } }) => settings(path),
  },
];
