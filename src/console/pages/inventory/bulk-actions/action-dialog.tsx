import { type ReactElement, useCallback, useState } from "react";
import type { WindowsWipeType } from "../../../../api/hosts/host-actions.ts";
import { bulkActionsApi } from "../../../../api/inventory/bulk-actions.ts";
import { client } from "../../../api.ts";
import { nameOfSelection } from "../hosts/selected-hosts.tsx";
import { BulkDialog, type BulkProps } from "./bulk-dialog.tsx";
import type { SendBulk } from "./use-preview.ts";

export type BulkActionName = "refetch" | "lock" | "unlock" | "wipe";

interface Action {
  readonly verb: string;
  readonly text: string;
  readonly done: (hosts: string) => string;
  readonly isDangerous?: boolean;
  readonly canUndo?: boolean;
}

const actions: Readonly<Record<BulkActionName, Action>> = {
  refetch: {
    verb: "Refetch",
    text: "The hosts send all of their details when they next connect.",
    done: (hosts) => `All details are requested from ${hosts}.`,
  },
  lock: {
    verb: "Lock",
    text: "The hosts lock themselves as soon as they are online. A Mac is locked with a PIN, which its page shows to whoever unlocks it.",
    done: (hosts) => `${hosts}: locked as soon as online.`,
    isDangerous: true,
    canUndo: true,
  },
  unlock: {
    verb: "Unlock",
    text: "The hosts are unlocked as soon as they are online. A Mac is unlocked with its PIN, which its page shows.",
    done: (hosts) => `${hosts}: unlocked as soon as online.`,
    canUndo: true,
  },
  wipe: {
    verb: "Wipe",
    text: "Everything on the hosts is deleted as soon as they are online. A host that has begun cannot be stopped: this cannot be undone.",
    done: (hosts) => `${hosts}: erased as soon as online.`,
    isDangerous: true,
    canUndo: true,
  },
};

const wipeTypes: readonly { readonly value: WindowsWipeType; readonly label: string }[] = [
  { value: "doWipeProtected", label: "so that it cannot be stopped by switching them off" },
  { value: "doWipe", label: "so that they start again if it fails" },
];

/** Actions that need no choice: what they would do is shown, and done. */
export function BulkActionDialog({ name, ...props }: BulkProps & { readonly name: BulkActionName }): ReactElement {
  const { target, count } = props.frozen;
  const { verb, text, ...action } = actions[name];
  const [wipeType, setWipeType] = useState<WindowsWipeType>("doWipeProtected");
  const send = useCallback<SendBulk>(
    (call, reason) => {
      if (name === "refetch") return client.call(bulkActionsApi.refetch, { body: target }, call);
      const body = { ...target, ...(reason === "" ? {} : { reason }) };
      if (name === "wipe")
        return client.call(bulkActionsApi.wipe, { body: { ...body, windows: { wipe_type: wipeType } } }, call);
      return client.call(bulkActionsApi[name], { body }, call);
    },
    [name, target, wipeType],
  );
  return (
    <BulkDialog
      {...props}
      {...action}
      title={`${verb} ${nameOfSelection(props.frozen)}`}
      verb={verb}
      send={send}
      isTyped={name === "wipe" || (name === "lock" && count > 1)}
      hasReason={name !== "refetch"}
    >
      <p>{text}</p>
      {name === "wipe" && (
        <label className="field">
          Windows hosts are erased
          <select value={wipeType} onChange={(event) => setWipeType(event.target.value as WindowsWipeType)}>
            {wipeTypes.map(({ value, label }) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </select>
        </label>
      )}
    </BulkDialog>
  );
}
