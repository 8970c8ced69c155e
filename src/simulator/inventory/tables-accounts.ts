import { hashText, Random } from "../random.ts";
import type { SqlRow } from "../sql/execute.ts";
import { type Machine, PEOPLE } from "./machine.ts";
import { ALL, columns, type TableSpec } from "./table-spec.ts";

type Account = { uid: number; gid: number; name: string; shell: string; directory: string; type: string };

const SERVICES: Record<string, string[]> = {
  darwin: ["_spotlight", "_www", "_windowserver", "daemon", "nobody"],
  linux: ["daemon", "bin", "sys", "sync", "man", "www-data", "sshd", "nobody"],
};

/** The owner, up to two colleagues and the system's own accounts. */
function accountsOf(machine: Machine): Account[] {
  const { family } = machine.platform;
  const random = machine.random(70);
  const people = [...new Set([machine.owner, ...Array.from({ length: random.int(0, 2) }, () => random.pick(PEOPLE))])];
  if (family === "windows") {
    const account = (uid: number, name: string, type: string): Account => ({
      uid,
      gid: 544,
      name,
      shell: "C:\\Windows\\system32\\cmd.exe",
      directory: type === "local" ? `C:\\Users\\${name}` : "",
      type,
    });
    return [
      account(18, "SYSTEM", "special"),
      account(19, "LOCAL SERVICE", "special"),
      account(500, "Administrator", "local"),
      account(504, "WDAGUtilityAccount", "local"),
      ...people.map((name, i) => account(1001 + i, name, "local")),
    ];
  }
  const home = family === "darwin" ? "/Users" : "/home";
  const first = family === "darwin" ? 501 : 1000;
  const nologin = family === "darwin" ? "/usr/bin/false" : "/usr/sbin/nologin";
  const account = (uid: number, name: string, shell: string, directory: string): Account => ({
    uid,
    gid: family === "darwin" && uid >= first ? 20 : uid,
    name,
    shell,
    directory,
    type: "",
  });
  return [
    account(0, "root", family === "darwin" ? "/bin/sh" : "/bin/bash", family === "darwin" ? "/var/root" : "/root"),
    ...(SERVICES[family] ?? []).map((name, i) =>
      account(i + 1, name, name === "sync" ? "/bin/sync" : nologin, "/var/empty"),
    ),
    ...people.map((name, i) =>
      account(first + i, name, family === "darwin" ? "/bin/zsh" : "/bin/bash", `${home}/${name}`),
    ),
  ];
}

/** The account that owns the per-user software. */
export function ownerOf(machine: Machine): Account {
  return accountsOf(machine).find((account) => account.name === machine.owner)!;
}

const ISSUERS = ["Example Root CA", "Example Device CA", "Apple Worldwide Developer Relations", "Corp Issuing CA 2"];

function certificatesOf(machine: Machine, unixTime: number): SqlRow[] {
  const { family } = machine.platform;
  const random = machine.random(71);
  const owner = ownerOf(machine);
  const count = family === "linux" ? 0 : random.int(3, 8);
  return Array.from({ length: count }, (_, i) => {
    const isUsers = i % 2 === 1;
    const issuer = ISSUERS[i % ISSUERS.length] as string;
    const name = isUsers ? `${machine.owner}@example.com` : i === 0 ? issuer : machine.hostname;
    const cert = new Random(hashText(`${machine.seed}/certificate/${i}`));
    const from = unixTime - (unixTime % 86_400) - cert.int(1, 700) * 86_400;
    return {
      common_name: name,
      subject: `/C=US/O=Example/OU=IT/CN=${name}`,
      issuer: `/C=US/O=Example/CN=${issuer}`,
      ca: Number(i === 0),
      self_signed: Number(i === 0),
      not_valid_before: from,
      not_valid_after: from + 825 * 86_400,
      signing_algorithm: "sha256WithRSAEncryption",
      key_algorithm: "rsaEncryption",
      key_strength: "2048",
      key_usage: "Digital Signature, Key Encipherment",
      subject_key_id: cert.hex(40),
      authority_key_id: cert.hex(40),
      sha1: cert.hex(40),
      path:
        family === "windows"
          ? isUsers
            ? `Users\\S-1-5-21-1-2-3-${owner.uid}\\Personal`
            : "LocalMachine\\Personal"
          : isUsers
            ? `${owner.directory}/Library/Keychains/login.keychain-db`
            : "/Library/Keychains/System.keychain",
      serial: cert.hex(18).toUpperCase(),
      sid: family === "windows" ? (isUsers ? `S-1-5-21-1-2-3-${owner.uid}` : "") : null,
      store_location: family === "windows" ? (isUsers ? "Users" : "LocalMachine") : null,
      store: family === "windows" ? "Personal" : null,
      username: family === "windows" ? (isUsers ? owner.name : "SYSTEM") : null,
      store_id: family === "windows" ? "" : null,
    };
  });
}

/** Users, groups and certificates. */
export const ACCOUNT_TABLES: Readonly<Record<string, TableSpec>> = {
  users: {
    families: ALL,
    columns: columns("uid gid uid_signed gid_signed username description directory shell uuid type is_hidden"),
    rows: ({ machine }) =>
      accountsOf(machine).map((account) => ({
        uid: account.uid,
        gid: account.gid,
        uid_signed: account.uid,
        gid_signed: account.gid,
        username: account.name,
        description: account.name,
        directory: account.directory,
        shell: account.shell,
        uuid: machine.platform.family === "linux" ? "" : `S-1-5-21-1-2-3-${account.uid}`,
        type: account.type,
        is_hidden: 0,
      })),
  },
  groups: {
    families: ALL,
    columns: columns("gid gid_signed groupname group_sid comment is_hidden"),
    rows: ({ machine }) => {
      const names: Record<number, string> = { 0: "root", 20: "staff", 544: "Administrators" };
      const gids = [...new Set(accountsOf(machine).map((account) => account.gid))];
      const nameOf = (gid: number) => names[gid] ?? accountsOf(machine).find((account) => account.gid === gid)!.name;
      return gids.map((gid) => ({
        gid,
        gid_signed: gid,
        groupname: nameOf(gid),
        group_sid: "",
        comment: "",
        is_hidden: 0,
      }));
    },
  },
  certificates: {
    families: ALL,
    columns: columns(
      "common_name subject issuer ca self_signed not_valid_before not_valid_after signing_algorithm key_algorithm key_strength " +
        "key_usage subject_key_id authority_key_id sha1 path serial sid store_location store username store_id",
    ),
    rows: ({ machine, state }) => certificatesOf(machine, state.agentStartedAt),
  },
};
