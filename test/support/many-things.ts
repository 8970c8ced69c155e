// A configuration of maximum size: teams, each with the same number of policies and queries.
import type { ThingChange } from "../../src/api/edge/configuration.ts";
import { change, policy, query } from "./configuration.ts";

const sql = (team: number, i: number, form: number) =>
  `SELECT 1 FROM osquery_info WHERE ${team} = ${team} AND version >= '5.${i}.${form}' AND EXISTS (SELECT 1 FROM system_info WHERE uuid != '');`;

const teamName = (i: number) => `Team ${String(i).padStart(3, "0")}`;

export const manyTeams = (teams: number): ThingChange[] =>
  Array.from({ length: teams }, (_, i) => change("create", "team", teamName(i), { description: `team number ${i}` }));

/** `form` distinguishes one complete state from another. */
export const manyObjects = (
  teams: number,
  each: number,
  { action = "create", form = 0 }: { action?: "create" | "update"; form?: number } = {},
): ThingChange[] =>
  Array.from({ length: teams }, (_, team) =>
    Array.from({ length: each }, (_, i) => {
      const text = { query: sql(team, i, form), description: `What number ${i} of team ${team} is for` };
      const half = i < each / 2;
      return change(
        action,
        half ? "policy" : "query",
        `${half ? "Policy" : "Query"} ${i}`,
        half ? policy({ ...text, platform: "darwin,windows" }) : query({ ...text, interval: 3600 }),
        teamName(team),
      );
    }),
  ).flat();
