import { z } from "zod";
import { endpoint } from "../endpoint.ts";
import { Id, IdParam, QueryFlag } from "../fields.ts";
import { Approval } from "./approvals.ts";
import { Host } from "./host.ts";
import { SelectionHeaders } from "./selection.ts";

const params = z.object({ id: IdParam });
const access = { action: "hosts:lock", scope: "team" } as const;
const State = z.object({
  device_status: Host.shape.mdm.shape.device_status,
  pending_action: Host.shape.mdm.shape.pending_action,
});
export const wipeTypes = ["doWipe", "doWipeProtected"] as const;
export type WindowsWipeType = (typeof wipeTypes)[number];
export const WipeOptions = z.object({
  windows: z
    .object({
      wipe_type: z.enum(wipeTypes).meta({
        description:
          "how a Windows host is erased. doWipeProtected, the default, cannot be stopped by switching the host off, and may leave it unable to start if it fails",
      }),
    })
    .optional(),
});

const unlock_pin = z.string().optional().meta({ description: "macOS" });

export const hostActionsApi = {
  lock: endpoint({
    method: "POST",
    path: "/hosts/:id/lock",
    aliases: ["/mdm/hosts/:id/lock"],
    summary: "Lock a host as soon as it is online.",
    tier: "premium",
    access,
    headers: SelectionHeaders,
    params,
    query: z.object({
      view_pin: QueryFlag.default(false).meta({ description: "reply with the PIN that unlocks a Mac" }),
    }),
    response: State.extend({ unlock_pin }),
  }),
  unlock: endpoint({
    method: "POST",
    path: "/hosts/:id/unlock",
    summary: "Unlock a host as soon as it is online.",
    tier: "premium",
    access,
    params,
    response: State.extend({ host_id: Id, unlock_pin }),
  }),
  wipe: endpoint({
    method: "POST",
    path: "/hosts/:id/wipe",
    aliases: ["/mdm/hosts/:id/wipe"],
    summary: "Erase a host as soon as it is online. This cannot be undone.",
    access,
    headers: SelectionHeaders,
    params,
    body: WipeOptions.optional(),
    otherStatus: [202],
    response: State.extend({
      approval: Approval.optional().meta({
        description: "with status 202: the host receives no command until another user approves it",
      }),
    }),
  }),
  clearPasscode: endpoint({
    method: "POST",
    path: "/hosts/:id/clear_passcode",
    summary: "Remove the passcode of an iPhone or iPad as soon as it is online.",
    tier: "premium",
    access,
    params,
    response: z.object({ command_uuid: z.string(), request_type: z.string(), platform: z.string() }),
  }),
};
