// Endpoints for the managed agent and its desktop app (docs/protocols/managed-agent.md). They are declared like the API
// for operators, with the same errors, body limits and validation, but are not in its table: users do not call them,
// and there are no commands for them.

import { z } from "zod";
import { Download } from "../bodies.ts";
import { type AnyEndpoint, endpoint, OF_AGENTS, type Purpose } from "../endpoint.ts";
import { Empty, Id, Timestamp } from "../fields.ts";
import { SetupResults } from "./setup-results.ts";

const text = (most: number) => z.string().max(most).default("");

/**
 * What our own agent sends to find machines that were cloned with it. Other agents may send anything under this name.
 */
const AgentMachine = z
  .object({
    run: z.string().min(1).max(64).meta({ description: "random, of this process" }),
    hardware_uuid: z.string().min(1).max(255),
  })
  .optional()
  .catch(undefined);

/** The agent's key. Third-party agents use the second name, and the third one in details of installs. */
const keyNames = {
  agent_node_key: z.string().max(512).optional(),
  orbit_node_key: z.string().max(512).optional(),
  orbot_node_key: z.string().max(512).optional(),
  agent_machine: AgentMachine,
};
// Required fields are checked after the key: without a key the reply is 401, even if other fields are missing.
const keyed = <S extends z.ZodRawShape>(shape: S) => z.object({ ...keyNames, ...shape });

const agentEndpoint = <B extends z.ZodType, R extends z.ZodType, Q extends z.ZodType = z.ZodObject>(definition: {
  method?: "POST" | "PUT";
  path: string;
  summary: string;
  purpose?: Purpose;
  body: B;
  response: R;
  query?: Q;
  status?: number;
  tier?: "premium";
  produces?: "application/octet-stream";
}) =>
  endpoint<R, z.ZodObject, Q, B>({
    method: "POST",
    access: "none",
    dryRun: OF_AGENTS,
    ...definition,
    path: `/agent${definition.path}`,
  });

// The exit codes are the result: an output that is no text must not cause it to be rejected.
const stepOutput = z.string().nullable().default(null).catch(null);
const exitCode = z
  .int()
  .min(-(2 ** 31))
  .max(2 ** 32)
  .nullable()
  .default(null);

export const managedAgentApi = {
  ping: endpoint({
    method: "HEAD",
    path: "/agent/ping",
    summary: "Report that the server is available, and its capabilities (X-SVC-Capabilities).",
    access: "none",
    response: Empty,
  }),
  enroll: agentEndpoint({
    path: "/enroll",
    summary: "Enroll with a secret; returns the agent's key.",
    purpose: "enrollment",
    body: z.object({
      enroll_secret: text(4096),
      hardware_uuid: text(255),
      hardware_serial: text(255),
      hostname: text(255),
      platform: text(64),
      qengine_identifier: text(255),
      osquery_identifier: text(255),
      computer_name: text(255),
      hardware_model: text(255),
      agent_machine: AgentMachine,
    }),
    response: z.object({
      agent_node_key: z.string(),
      orbit_node_key: z.string().optional(),
      agent_update_key: z.string().optional().meta({ description: "Ed25519 key that signs updates (SPKI, base64)" }),
    }),
  }),
  config: agentEndpoint({
    path: "/config",
    summary: "Get the agent's configuration and pending work.",
    body: keyed({}),
    response: z.object({
      script_execution_timeout: z.int().meta({ description: "seconds" }),
      command_line_startup_flags: z.record(z.string(), z.json()),
      extensions: z.record(z.string(), z.json()),
      update_channels: z.record(z.string(), z.json()).optional(),
      agent_update: z
        .object({ version: z.string(), sha256: z.string(), size: z.int(), signature: z.string() })
        .optional()
        .meta({ description: "a newer agent of this server, if the caller is an older one" }),
      renew_device_token: z.boolean().optional().meta({ description: "a copy of this agent has replaced the token" }),
      notifications: z.object({
        pending_script_execution_ids: z.array(z.string()).optional(),
        pending_software_installer_ids: z.array(z.string()).optional().meta({ description: "install_uuid of each" }),
        needs_programmatic_windows_mdm_enrollment: z.boolean().optional(),
        windows_mdm_discovery_endpoint: z.string().optional(),
        windows_mdm_enrollment_token: z.string().optional().meta({
          description: "for hosts that sign their requests: enrolls one device within ten minutes, in place of the key",
        }),
        needs_programmatic_windows_mdm_unenrollment: z.boolean().optional(),
        needs_mdm_migration: z.boolean().optional(),
        enforce_bitlocker_encryption: z.boolean().optional(),
        rotate_disk_encryption_key: z.boolean().optional(),
        run_disk_encryption_escrow: z.boolean().optional(),
        run_setup_experience: z.boolean().optional(),
      }),
    }),
  }),
  deviceToken: agentEndpoint({
    path: "/device_token",
    summary: "Set the token of the host's own page; the previous token becomes invalid.",
    body: keyed({ device_auth_token: text(255) }),
    response: Empty,
  }),
  scriptRequest: agentEndpoint({
    path: "/scripts/request",
    summary: "Get a script to run.",
    body: keyed({ execution_id: text(255) }),
    response: z.object({
      host_id: Id,
      execution_id: z.string(),
      script_contents: z.string(),
      script_id: Id.nullable(),
      timeout: z.int(),
      created_at: Timestamp,
    }),
  }),
  scriptResult: agentEndpoint({
    path: "/scripts/result",
    summary: "Report the result of a script: -1 timed out or killed, -2 scripts are disabled.",
    body: keyed({
      execution_id: text(255),
      // The exit code is the result: invalid values in the other fields must not cause it to be rejected.
      output: z.string().default("").catch(""),
      runtime: z.number().min(0).max(1e9).default(0).catch(0),
      exit_code: z.int().optional(),
      timeout: z.json().optional(),
    }),
    response: Empty,
  }),
  installDetails: agentEndpoint({
    path: "/software_install/details",
    summary: "Get an installation to perform.",
    body: keyed({ install_uuid: text(255) }),
    response: z.object({
      install_id: z.string(),
      installer_id: Id,
      installer_name: z.string().meta({ description: "name of the file" }),
      installer_size: z.int().nonnegative(),
      installer_sha256: z.string(),
      timeout: z.int().meta({ description: "seconds for all steps" }),
      pre_install_condition: z.string().meta({ description: "a query; nothing is installed if it returns no row" }),
      install_script: z.string(),
      uninstall_script: z.string().meta({ description: "also rolls back, if the script after the installation fails" }),
      post_install_script: z.string(),
      self_service: z.boolean(),
    }),
  }),
  installPackage: agentEndpoint({
    path: "/software_install/package",
    summary: "Download an installer that the host was asked to install, or a part of it.",
    tier: "premium",
    query: z.object({ alt: z.string().max(64).default("") }),
    body: keyed({ installer_id: z.int().optional() }),
    produces: "application/octet-stream",
    response: Download,
  }),
  installResult: agentEndpoint({
    path: "/software_install/result",
    summary: "Report the result of an installation; steps that were not done are null.",
    body: keyed({
      install_uuid: text(255),
      pre_install_condition_output: stepOutput,
      install_script_exit_code: exitCode,
      install_script_output: stepOutput,
      post_install_script_exit_code: exitCode,
      post_install_script_output: stepOutput,
    }),
    status: 204,
    response: Empty,
  }),
  diskEncryptionKey: agentEndpoint({
    path: "/disk_encryption_key",
    summary: "Escrow the BitLocker key of a Windows host that this server manages.",
    body: keyed({ encryption_key: text(16_384), client_error: text(16_384) }),
    status: 204,
    response: Empty,
  }),
  luksData: agentEndpoint({
    path: "/luks_data",
    summary: "Escrow the LUKS passphrase of a Linux host.",
    body: keyed({
      passphrase: text(4096),
      salt: text(4096),
      key_slot: z.int().min(0).max(1_000_000).nullish(),
      client_error: text(16_384),
    }),
    status: 204,
    response: Empty,
  }),
  deviceMapping: agentEndpoint({
    method: "PUT",
    path: "/device_mapping",
    summary: "Report the user of the host.",
    body: keyed({ email: text(255) }),
    response: Empty,
  }),
  setupInit: agentEndpoint({
    path: "/setup_experience/init",
    summary: "Begin the setup of a new host, if there is one.",
    tier: "premium",
    body: keyed({}),
    response: z.object({ result: z.object({ enabled: z.boolean() }) }),
  }),
  setupStatus: agentEndpoint({
    path: "/setup_experience/status",
    summary: "Get the progress of the setup of a new host, and begin what comes next.",
    tier: "premium",
    body: keyed({
      force_release: z.boolean().nullish().meta({ description: "the device is not kept waiting any longer" }),
    }),
    response: z.object({ setup_experience_results: SetupResults }),
  }),
} satisfies Record<string, AnyEndpoint>;

/** What an agent is asked to do. */
export type AgentNotifications = z.output<typeof managedAgentApi.config.response>["notifications"];
