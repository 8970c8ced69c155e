// How machines become hosts: a token that enrolls them for a while, and what they download to install the agent.
import { z } from "zod";
import { Download } from "../bodies.ts";
import { endpoint, protocolEndpoint } from "../endpoint.ts";
import { Id, Timestamp } from "../fields.ts";

/** Each has a command of its own that installs the agent. */
export const agentPlatforms = ["linux", "macos", "windows"] as const;
export type AgentPlatform = (typeof agentPlatforms)[number];

export const EnrollToken = z.object({
  token: z.string().meta({ description: "enrolls hosts as an enroll secret does; returned only once" }),
  expires_at: Timestamp,
  team_id: Id.nullable(),
  server_url: z.string(),
  agent_sha256: z.string().nullable().meta({ description: "of the agent's file; null: this server has none" }),
  commands: z
    .object({ linux: z.string(), macos: z.string(), windows: z.string() })
    .meta({ description: "what to run on a new host to install the agent" }),
});
export type EnrollToken = z.infer<typeof EnrollToken>;

export const newHostsApi = {
  createToken: endpoint({
    method: "POST",
    path: "/enroll_tokens",
    summary: "Create a token that enrolls hosts for a while, with the commands that install the agent.",
    access: { action: "enroll_secrets:read", scope: "team" },
    body: z.object({
      team_id: z.int().min(0).optional().meta({ description: "team of the hosts (premium); absent or 0: no team" }),
      sign_requests: z.boolean().default(false).meta({
        description: "with these commands, hosts get a certificate and sign their requests with it",
      }),
      expires_in: z.string().max(20).default("24h").meta({ description: "duration such as 30m or 12h, at most 7d" }),
    }),
    response: EnrollToken,
  }),
};

const file = (path: `/enroll/${string}`, summary: string, produces: string) =>
  protocolEndpoint({ method: "GET", paths: [path], summary, produces, response: Download });

/** Nothing in these files is secret. */
export const agentFilesApi = {
  agent: file("/enroll/agent.mjs", "Download the agent, one file that Node runs.", "text/javascript"),
  shell: file("/enroll/enroll.sh", "Download the script that installs the agent on Linux and macOS.", "text/plain"),
  powershell: file("/enroll/enroll.ps1", "Download the script that installs the agent on Windows.", "text/plain"),
};
