// Passwords that this server has set on Macs.
import { z } from "zod";
import { endpoint } from "../endpoint.ts";
import { Empty, Id, IdParam, Timestamp } from "../fields.ts";

const params = z.object({ id: IdParam });
const read = { action: "hosts:read_passwords", scope: "team" } as const;
const rotate = { action: "hosts:lock", scope: "team" } as const;
const Password = z.object({ password: z.string(), updated_at: Timestamp });

export const hostPasswordsApi = {
  recoveryLock: endpoint({
    method: "GET",
    path: "/hosts/:id/recovery_lock_password",
    reveals: true,
    summary: "Read the password of a Mac's recovery lock; each access is recorded.",
    access: read,
    params,
    response: z.object({ host_id: Id, recovery_lock_password: Password }),
  }),
  rotateRecoveryLock: endpoint({
    method: "POST",
    path: "/hosts/:id/recovery_lock_password/rotate",
    summary: "Give a Mac another recovery lock password as soon as it is online.",
    tier: "premium",
    access: rotate,
    params,
    response: Empty,
  }),
  managedAccount: endpoint({
    method: "GET",
    path: "/hosts/:id/managed_account_password",
    reveals: true,
    summary: "Read the password of the managed local account of a Mac; each access is recorded.",
    access: read,
    params,
    response: z.object({ host_id: Id, managed_account_password: Password }),
  }),
  rotateManagedAccount: endpoint({
    method: "POST",
    path: "/hosts/:id/managed_account_password/rotate",
    summary: "Give the managed local account of a Mac another password as soon as it is online.",
    tier: "premium",
    access: rotate,
    params,
    status: 204,
    response: Empty,
  }),
};
