// Separate from labels.ts, which the schema of hosts imports: this avoids a circular import.
import { z } from "zod";
import { endpoint } from "../endpoint.ts";
import { IdParam } from "../fields.ts";
import { HostListQuery } from "./host-filters.ts";
import { hostsApi } from "./hosts.ts";

export const labelHostsApi = {
  hosts: endpoint({
    method: "GET",
    path: "/labels/:id/hosts",
    summary: "List the hosts in a label; takes every filter of the list of hosts.",
    access: { action: "hosts:list", scope: "team" },
    params: z.object({ id: IdParam }),
    query: HostListQuery.omit({ label_id: true }),
    response: hostsApi.list.response,
  }),
};
