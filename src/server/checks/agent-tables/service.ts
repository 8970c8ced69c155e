import type { AgentTable } from "../../../api/checks/agent-tables.ts";
import { TABLE_LINES } from "./data.ts";

type Platform = AgentTable["platforms"][number];
type Column = AgentTable["columns"][number];

const platformOf: Readonly<Record<string, Platform>> = { d: "darwin", l: "linux", w: "windows" };
const typeOf: Readonly<Record<string, Column["type"]>> = { i: "INTEGER", b: "BIGINT", d: "DOUBLE" };

const platformsOf = (letters: string): Platform[] => [...letters].map((letter) => platformOf[letter]!);

function columnOf(text: string): Column {
  const [, mark, name, type] = /^([*-]?)(\w+)(?::(\w))?$/.exec(text)!;
  return {
    name: name!,
    type: type === undefined ? "TEXT" : typeOf[type]!,
    required: mark === "*",
    hidden: mark === "-",
  };
}

function tableOf(line: string): AgentTable {
  const [name, platforms, agentPlatforms, evented, description, columns] = line.split("|") as [
    string,
    string,
    string,
    string,
    string,
    string,
  ];
  return {
    name,
    platforms: platformsOf(platforms),
    agent_platforms: platformsOf(agentPlatforms),
    description,
    evented: evented === "E",
    columns: columns.split(" ").map(columnOf),
  };
}

let parsed: readonly AgentTable[] | undefined;

/** All tables, ordered by name. They are parsed when they are first needed. */
export function agentTables(): readonly AgentTable[] {
  parsed ??= TABLE_LINES.trim().split("\n").map(tableOf);
  return parsed;
}

export function listAgentTables({ platform, query }: { platform?: Platform | undefined; query?: string | undefined }) {
  const text = (query ?? "").toLowerCase();
  const tables = agentTables().filter(
    ({ name, platforms, columns }) =>
      (platform === undefined || platforms.includes(platform)) &&
      (name.includes(text) || columns.some((column) => column.name.includes(text))),
  );
  return { tables };
}
