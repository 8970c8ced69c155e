// Older spellings of requests, with another method than today's. No command uses them: the newer ones have commands.
import { z } from "zod";
import { endpoint } from "../endpoint.ts";
import { Empty } from "../fields.ts";
import { abmApi } from "./abm.ts";
import { appleTrustApi } from "./apple-trust.ts";
import { commandsApi } from "./commands.ts";

const older = { method: "POST", stability: "deprecated" } as const;
const preassigned = {
  ...older,
  access: { action: "profiles:write", scope: "global" },
  body: z.record(z.string().max(255), z.json()),
  bodyLimit: 1024 * 1024,
  status: 204,
  response: Empty,
} as const;

export const olderApi = {
  requestCsr: endpoint({
    ...older,
    path: "/mdm/vendora/request_csr",
    summary: "Older method of GET /mdm/vendora/request_csr.",
    access: appleTrustApi.request.access,
    response: appleTrustApi.request.response,
  }),
  keyPair: endpoint({
    ...older,
    path: "/mdm/vendora/dep/key_pair",
    summary: "Older form of GET /mdm/vendora/abm_public_key: the private key stays on the server.",
    access: abmApi.publicKey.access,
    response: abmApi.publicKey.response,
  }),
  enqueue: endpoint({
    ...older,
    path: "/mdm/vendora/enqueue",
    summary: "Older form of POST /mdm/commands/run.",
    access: commandsApi.run.access,
    bodyLimit: commandsApi.run.bodyLimit,
    body: z.object({
      command: commandsApi.run.body.shape.command,
      device_ids: commandsApi.run.body.shape.host_uuids.meta({ description: "the hosts' uuids" }),
    }),
    response: commandsApi.run.response,
  }),
  preassign: endpoint({
    ...preassigned,
    path: "/mdm/vendora/profiles/preassign",
    summary: "Accepted from older clients, without any effect: add profiles to teams instead.",
  }),
  match: endpoint({
    ...preassigned,
    path: "/mdm/vendora/profiles/match",
    summary: "Accepted from older clients, without any effect: transfer hosts to teams instead.",
  }),
};
