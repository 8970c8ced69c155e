import { z } from "zod";
import { endpoint } from "../endpoint.ts";
import { QueryText } from "../fields.ts";

export const tablePlatforms = ["darwin", "linux", "windows"] as const;
const Platform = z.enum(tablePlatforms);

export const AgentTable = z.object({
  name: z.string(),
  platforms: z.array(Platform).meta({ description: "of query engines that have the table" }),
  agent_platforms: z.array(Platform).meta({ description: "on which the agent of svc has the table, too" }),
  description: z.string().meta({ description: "may be empty" }),
  evented: z.boolean().meta({ description: "rows are events that the agent has stored" }),
  columns: z.array(
    z.object({
      name: z.string(),
      type: z.enum(["TEXT", "INTEGER", "BIGINT", "DOUBLE"]),
      required: z
        .boolean()
        .meta({ description: "a query has to compare it, or another required column, with a value" }),
      hidden: z.boolean().meta({ description: "not part of SELECT *" }),
    }),
  ),
});
export type AgentTable = z.infer<typeof AgentTable>;

export const agentTablesApi = {
  list: endpoint({
    method: "GET",
    path: "/tables",
    summary: "List the tables that queries can read on hosts, with their columns.",
    access: "user",
    query: z.object({
      platform: Platform.optional().meta({ description: "only tables of this platform" }),
      query: QueryText.optional().meta({ description: "searches names of tables and columns" }),
    }),
    response: z.object({ tables: z.array(AgentTable) }),
  }),
};
