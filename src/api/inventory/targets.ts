import { z } from "zod";
import { endpoint } from "../endpoint.ts";
import { Id } from "../fields.ts";
import { Host } from "../hosts/host.ts";
import { LabelItem } from "../hosts/labels.ts";
import { Team } from "../settings/teams.ts";
import { HOSTS_MAX, SelectedTargets } from "./live-queries.ts";

const Text = z.string().max(1024).nullish();
const QueryId = Id.nullish().meta({
  description: "a query that observers may run: includes hosts that the caller may only observe",
});
const access = { action: "targets:search", scope: "team" } as const;

export const targetsApi = {
  search: endpoint({
    method: "POST",
    path: "/targets",
    summary: "Find hosts, labels and teams to run a query on, and count those chosen.",
    access,
    body: z.object({
      query: Text.meta({ description: "searches hostnames, IPv4 addresses, names of labels and teams" }),
      query_id: QueryId,
      selected: SelectedTargets.nullish().meta({ description: "not listed, but counted" }),
    }),
    response: z.object({
      targets: z.object({
        hosts: z.array(Host).meta({ description: "at most 10" }),
        labels: z.array(LabelItem),
        teams: z.array(Team.extend({ display_text: z.string(), count: z.int() })),
      }),
      targets_count: z.int(),
      targets_online: z.int(),
      targets_offline: z.int(),
      targets_missing_in_action: z.int(),
    }),
  }),
  count: endpoint({
    method: "POST",
    path: "/targets/count",
    summary: "Count the hosts in a selection of targets.",
    access,
    body: z.object({ query_id: QueryId, selected: SelectedTargets.nullish() }),
    response: z.object({ targets_count: z.int(), targets_online: z.int(), targets_offline: z.int() }),
  }),
  hosts: endpoint({
    method: "POST",
    path: "/hosts/search",
    summary: "Find hosts to run a query on, 10 at most.",
    access,
    body: z.object({
      query: Text.meta({ description: "searches names, serial numbers, uuids, IP and email addresses" }),
      query_id: QueryId,
      excluded_host_ids: z.array(Id).max(HOSTS_MAX).nullish(),
    }),
    response: z.object({ targets: z.object({ hosts: z.array(Host) }) }),
  }),
};
