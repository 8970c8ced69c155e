import { type ReactElement, useState } from "react";
import type { Host } from "../../../../api/hosts/host.ts";
import { hostActionsApi } from "../../../../api/hosts/host-actions.ts";
import { selectionHeaders, selectionOf } from "../../../../api/hosts/selection-digest.ts";
import { hostDetailsApi } from "../../../../api/inventory/host-details.ts";
import { hostsApi } from "../../../../api/inventory/hosts.ts";
import { client, useOutdate } from "../../../api.ts";
import { notifyDone } from "../../../frame/notices.tsx";
import { Copyable } from "../../../parts/as-command.tsx";
import { ConfirmDialog } from "../../../parts/confirm-dialog.tsx";
import { Dialog } from "../../../parts/dialog.tsx";
import { useGo } from "../../../url.ts";

export type ActionName = "lock" | "unlock" | "wipe" | "clear_passcode" | "unenroll" | "delete";

interface Action {
  readonly verb: string;
  readonly text: string;
  readonly done: string;
  /** Whether the user types the host's name, because it cannot be undone. */
  readonly isFinal?: boolean;
  /** Returns the PIN that unlocks a Mac, or that somebody else has to approve it. */
  readonly run: (id: string, headers: Record<string, string>) => Promise<ActionResult>;
}

interface ActionResult {
  readonly pin?: string | undefined;
  readonly needsApproval?: boolean;
}

const nothing = async (sent: Promise<unknown>): Promise<ActionResult> => {
  await sent;
  return {};
};

const actions: Readonly<Record<ActionName, Action>> = {
  lock: {
    verb: "Lock",
    text: "The host locks itself as soon as it is online. A Mac is locked with a PIN, which is shown to you.",
    done: "The host will be locked when it is online.",
    run: async (id, headers) => {
      const input = { params: { id }, query: { view_pin: true } };
      return { pin: (await client.call(hostActionsApi.lock, input, { headers })).unlock_pin };
    },
  },
  unlock: {
    verb: "Unlock",
    text: "A Mac is unlocked with its PIN, which is shown to you. Other hosts are unlocked as soon as they are online.",
    done: "The host will be unlocked when it is online.",
    run: async (id) => ({ pin: (await client.call(hostActionsApi.unlock, { params: { id } })).unlock_pin }),
  },
  wipe: {
    verb: "Wipe",
    text: "Everything on the host is deleted as soon as it is online. This cannot be undone.",
    done: "The host will be erased when it is online.",
    isFinal: true,
    run: async (id, headers) => {
      const { approval } = await client.call(hostActionsApi.wipe, { params: { id } }, { headers });
      return { needsApproval: approval !== undefined };
    },
  },
  clear_passcode: {
    verb: "Clear passcode",
    text: "The device can be opened without a passcode until its user has set a new one.",
    done: "The passcode will be cleared when the device is online.",
    run: (id) => nothing(client.call(hostActionsApi.clearPasscode, { params: { id } })),
  },
  unenroll: {
    verb: "Turn off management",
    text: "The host loses its profiles. Its user has to enroll it again.",
    done: "Device management is turned off; for an Apple device, when it answers.",
    isFinal: true,
    run: (id) => nothing(client.call(hostDetailsApi.unenrollByPatch, { params: { id } })),
  },
  delete: {
    verb: "Delete",
    text: "The host and what is stored about it are deleted. If its agent still runs, it enrolls again.",
    done: "The host is deleted.",
    isFinal: true,
    run: async (id, headers) => {
      const reply = await client.call(hostsApi.delete, { params: { id } }, { headers });
      return { needsApproval: "approval" in reply && reply.approval !== undefined };
    },
  },
};

interface HostActionDialogProps {
  readonly name: ActionName;
  readonly host: Host;
  readonly onClose: () => void;
}

export function HostActionDialog({ name, host, onClose }: HostActionDialogProps): ReactElement {
  const { verb, text, done, isFinal = false, run } = actions[name];
  const outdate = useOutdate();
  const go = useGo();
  const [pin, setPin] = useState<string | null>(null);
  if (pin !== null)
    return (
      <Dialog title={`PIN of ${host.display_name}`} onClose={onClose}>
        <Copyable label="PIN that unlocks the Mac" text={pin} />
      </Dialog>
    );
  const confirm = async () => {
    // The user has seen this host: the server refuses if the id means another selection by now.
    const { count, digest } = await selectionOf([host.id]);
    const headers = { [selectionHeaders.count]: String(count), [selectionHeaders.digest]: digest };
    const result = await run(String(host.id), headers);
    notifyDone(result.needsApproval ? "Another user has to approve it first." : done);
    await outdate(hostsApi.get, hostsApi.list, hostsApi.count);
    if (name === "delete" && !result.needsApproval) go("/hosts");
    if (result.pin !== undefined) setPin(result.pin);
    return result;
  };
  return (
    <ConfirmDialog
      title={`${verb} ${host.display_name}`}
      verb={verb}
      {...(isFinal ? { typed: host.display_name } : {})}
      isDangerous={isFinal}
      onConfirm={confirm}
      onClose={(result) => {
        if ((result as ActionResult | undefined)?.pin === undefined) onClose();
      }}
    >
      <p>{text}</p>
    </ConfirmDialog>
  );
}
