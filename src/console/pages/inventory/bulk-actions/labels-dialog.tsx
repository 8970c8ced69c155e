import { type ReactElement, useMemo, useState } from "react";
import { labelsApi } from "../../../../api/hosts/labels.ts";
import { bulkActionsApi } from "../../../../api/inventory/bulk-actions.ts";
import { client, useOutdate, useRead } from "../../../api.ts";
import { Read } from "../../../parts/loading/read.tsx";
import { nameOfSelection } from "../hosts/selected-hosts.tsx";
import { BulkDialog, type BulkProps } from "./bulk-dialog.tsx";
import "./bulk-actions.css";
import { type LabelChange, LabelChoice } from "./label-choice.tsx";
import type { SendBulk } from "./use-preview.ts";

/** Adds the hosts to manual labels, and removes them from others. */
export function LabelsDialog(props: BulkProps): ReactElement {
  const { target } = props.frozen;
  const outdate = useOutdate();
  const [change, setChange] = useState<LabelChange>({ add: [], remove: [] });
  const query = { include_host_counts: false, order_key: "name" } as const;
  const reply = useRead(labelsApi.list, { query });
  const send = useMemo<SendBulk | null>(() => {
    if (change.add.length + change.remove.length === 0) return null;
    return async (call) => {
      const body = { ...target, add: [...change.add], remove: [...change.remove] };
      const outcome = await client.call(bulkActionsApi.labels, { body }, call);
      if (call.dryRun !== true) void outdate(labelsApi.list, labelsApi.summary);
      return outcome;
    };
  }, [target, change, outdate]);
  return (
    <BulkDialog
      {...props}
      title={`Label ${nameOfSelection(props.frozen)}`}
      verb="Save"
      send={send}
      done={(hosts) => `Labels are changed on ${hosts}.`}
    >
      <Read from={reply} what="labels">
        {({ labels }) => (
          <LabelChoice
            labels={labels.filter(
              ({ label_type, label_membership_type }) => label_type === "regular" && label_membership_type === "manual",
            )}
            change={change}
            onChange={setChange}
          />
        )}
      </Read>
    </BulkDialog>
  );
}
