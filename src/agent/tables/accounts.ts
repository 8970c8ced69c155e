import { join } from "node:path";
import si from "systeminformation";
import { linesOf, namesIn, readOr } from "./read.ts";
import { ALL, bigint, integer, LINUX, type Table, text, UNIX } from "./table.ts";

export interface Account {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
  readonly description: string;
  readonly home: string;
  readonly shell: string;
}

const signed = (id: number) => id | 0;

async function unixAccounts(): Promise<Account[]> {
  return (await linesOf("/etc/passwd")).flatMap((line) => {
    const [name, , uid, gid, description = "", home = "", shell = ""] = line.split(":");
    return name && uid && !name.startsWith("#")
      ? [{ name, uid: Number(uid), gid: Number(gid), description, home, shell }]
      : [];
  });
}

/** On Macs most accounts are in the directory service, but all who work on the Mac have a folder. */
async function macAccounts(): Promise<Account[]> {
  const folders = (await namesIn("/Users")).filter((name) => !name.startsWith(".") && name !== "Shared");
  const { stat } = await import("node:fs/promises");
  const people = await Promise.all(
    folders.map(async (name): Promise<Account> => {
      const home = join("/Users", name);
      const { uid, gid } = await stat(home).catch(() => ({ uid: -1, gid: -1 }));
      return { name, uid, gid, description: "", home, shell: "/bin/zsh" };
    }),
  );
  return [...(await unixAccounts()), ...people.filter(({ uid }) => uid >= 500)];
}

/** Who has a folder. Numbers are given in order, because reading the real ones needs other programs. */
async function windowsAccounts(): Promise<Account[]> {
  const root = `${process.env.SystemDrive ?? "C:"}\\Users`;
  const ignored = new Set(["Public", "Default", "Default User", "All Users", "desktop.ini"]);
  return (await namesIn(root))
    .filter((name) => !ignored.has(name))
    .map((name, i) => ({ name, uid: 1001 + i, gid: 544, description: "", home: `${root}\\${name}`, shell: "" }));
}

export const accounts = (): Promise<Account[]> =>
  process.platform === "linux" ? unixAccounts() : process.platform === "darwin" ? macAccounts() : windowsAccounts();

async function groups() {
  return (await linesOf("/etc/group")).flatMap((line) => {
    const [name, , gid, members = ""] = line.split(":");
    return name && gid && !name.startsWith("#")
      ? [{ name, gid: Number(gid), members: members.split(",").filter((member) => member !== "") }]
      : [];
  });
}

export const accountTables: readonly Table[] = [
  {
    name: "users",
    platforms: ALL,
    columns: {
      ...bigint("uid gid uid_signed gid_signed"),
      ...text("username description directory shell uuid type"),
      ...integer("is_hidden"),
    },
    rows: async () =>
      (await accounts()).map(({ name, uid, gid, description, home, shell }) => ({
        uid,
        gid,
        uid_signed: signed(uid),
        gid_signed: signed(gid),
        username: name,
        description,
        directory: home,
        shell,
        uuid: "",
        type: process.platform === "win32" ? "local" : "",
        is_hidden: 0,
      })),
  },
  {
    name: "groups",
    platforms: ALL,
    columns: { ...bigint("gid gid_signed"), ...text("groupname group_sid comment"), ...integer("is_hidden") },
    rows: async () =>
      (await groups()).map(({ name, gid }) => ({
        gid,
        gid_signed: signed(gid),
        groupname: name,
        group_sid: "",
        comment: "",
        is_hidden: 0,
      })),
  },
  {
    name: "user_groups",
    platforms: UNIX,
    columns: bigint("uid gid"),
    async rows() {
      const all = await accounts();
      const uids = new Map(all.map(({ name, uid }) => [name, uid]));
      const member = (await groups()).flatMap(({ gid, members }) =>
        members.flatMap((name) => (uids.has(name) ? [{ uid: uids.get(name)!, gid }] : [])),
      );
      return [...all.map(({ uid, gid }) => ({ uid, gid })), ...member];
    },
  },
  {
    name: "logged_in_users",
    platforms: ALL,
    columns: { ...text("type user tty host"), ...bigint("time"), ...integer("pid"), ...text("sid registry_hive") },
    rows: async () =>
      (await si.users()).map(({ user, tty, ip, date, time }) => ({
        type: "user",
        user,
        tty,
        host: ip,
        time: Math.floor(Date.parse(`${date}T${time}`) / 1000) || 0,
        pid: -1,
        sid: "",
        registry_hive: "",
      })),
  },
  {
    name: "sudoers",
    platforms: UNIX,
    columns: text("source header rule_details"),
    async rows() {
      const files = ["/etc/sudoers", ...(await namesIn("/etc/sudoers.d")).map((name) => `/etc/sudoers.d/${name}`)];
      const crontabs = await Promise.all(
        files.map(async (source) =>
          (await readOr(source))
            .replaceAll("\\\n", "")
            .split("\n")
            .flatMap((line) => {
              const [, header, details] = /^\s*([^#\s]\S*)\s+(.*\S)/.exec(line) ?? [];
              return header === undefined ? [] : [{ source, header, rule_details: details! }];
            }),
        ),
      );
      return crontabs.flat();
    },
  },
  {
    name: "shadow",
    platforms: LINUX,
    columns: {
      ...text("password_status hash_alg"),
      ...bigint("last_change min max warning inactive expire flag"),
      ...text("username"),
    },
    rows: async () =>
      (await linesOf("/etc/shadow")).map((line) => {
        const [username, hash = "", last, min, max, warning, inactive, expire, flag] = line.split(":");
        const days = (value: string | undefined) => (value ? Number(value) : -1);
        return {
          password_status:
            hash === ""
              ? "empty"
              : hash === "!" || hash === "!!"
                ? "not_set"
                : /^[!*]/.test(hash)
                  ? "locked"
                  : "active",
          hash_alg: /^\$(\w+)\$/.exec(hash)?.[1] ?? "",
          last_change: days(last),
          min: days(min),
          max: days(max),
          warning: days(warning),
          inactive: days(inactive),
          expire: days(expire),
          flag: days(flag),
          username: username!,
        };
      }),
  },
];
